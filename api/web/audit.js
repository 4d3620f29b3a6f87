/** What the audit of a match checked, and its first fault. */
import { html } from "./html.js";
import { t } from "./replay-words.js";

/** @import { Audit } from "./types.d.ts" */

/**
 * @param {object} props
 * @param {Audit | null} props.audit
 * @param {number} props.last the last version that is shown
 * @param {(version: number) => void} props.onGo
 */
export function AuditReport({ audit, last, onGo }) {
  if (audit === null) return null;
  const failed = audit.checks.find(({ result }) => result === "failed");
  const isWhole = audit.checks.every(({ result }) => result === "passed");
  const fault =
    failed &&
    t("failed", { version: failed.version, check: t(`check.${failed.check}`), detail: failed.detail?.replace(/\.$/, "") });
  const before = Math.min((failed?.version ?? 1) - 1, last);
  return html`<div class=${failed ? "audit card failed" : "audit card"}>
    <p>
      ${fault ?? t(isWhole ? "passed" : "partly")}${" "}
      ${failed && (failed.version ?? 0) > last && t("leftOut")}${" "}
      ${failed && before >= 1 && html`<button type="button" onClick=${() => onGo(before)}>${t("goThere")}</button>`}
    </p>
    <ul>
      ${audit.checks.map(
        ({ check, result }) =>
          html`<li class=${result}><span aria-hidden="true">${SIGNS[result]}</span> ${t(`check.${check}`)}${" "}
            <span class="visually-hidden">${t(`result.${result}`)}</span></li>`,
      )}
    </ul>
  </div>`;
}

/** @type {Record<string, string>} */
const SIGNS = { passed: "✓", failed: "✗", not_yet: "…", not_checked: "–" };
