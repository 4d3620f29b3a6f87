/** The points of each seat over a match, and at one version. */
import { html } from "./html.js";
import { seatName, t } from "./replay-words.js";
import { SeatMark } from "./seat-mark.js";

/** @import { Moment, Seat } from "./types.d.ts" */

const WIDTH = 600;
const HEIGHT = 150;
const EDGE = 8;

/**
 * @param {object} props
 * @param {readonly Moment[]} props.moments
 * @param {readonly Seat[]} props.seats
 * @param {number} props.version
 * @param {(version: number) => void} props.onVersion
 */
export function Curve({ moments, seats, version, onVersion }) {
  const known = moments.filter(({ points }) => points !== null);
  const end = known.at(-1)?.points;
  if (!end) return null;
  const all = known.flatMap(({ points }) => points ?? []);
  const [least, most] = [Math.min(0, ...all), Math.max(1, ...all)];
  /** @param {number} at */
  const x = (at) => EDGE + ((at - 1) / Math.max(1, moments.length - 1)) * (WIDTH - 2 * EDGE);
  /** @param {number} points */
  const y = (points) => HEIGHT - EDGE - ((points - least) / (most - least)) * (HEIGHT - 2 * EDGE);
  /** @param {number} seat */
  const line = (seat) => known.map((one) => `${x(one.version).toFixed(1)},${y(one.points?.[seat] ?? 0).toFixed(1)}`).join(" ");
  /** @param {any} event */
  const pick = (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = (((event.clientX - left) / width) * WIDTH - EDGE) / (WIDTH - 2 * EDGE);
    onVersion(1 + Math.round(share * (moments.length - 1)));
  };
  const points = moments[version - 1]?.points;
  const summary = end.map((score, seat) => `${seatName(seats, seat)} ${score}`).join(", ");
  return html`<figure class="curve card" aria-labelledby="points">
    <h2 id="points" class="small">${t("points")}</h2>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${t("curve", { points: summary })} onClick=${pick}>
      <line class="curve-zero" x1=${EDGE} x2=${WIDTH - EDGE} y1=${y(0)} y2=${y(0)} />
      <line class="curve-now" x1=${x(version)} x2=${x(version)} y1="0" y2=${HEIGHT} />
      ${end.map((_, seat) => html`<polyline class="curve-line points-${seat}" points=${line(seat)} />`)}
      ${points?.map((score, seat) => html`<circle class="curve-dot points-${seat}" cx=${x(version)} cy=${y(score)} r="5" />`)}
    </svg>
    <figcaption>
      <ul>
        ${end.map(
          (_, seat) => html`<li>
            <svg viewBox="0 0 32 10" aria-hidden="true"><path class="curve-line points-${seat}" d="M0 5H32" /></svg>
            <${SeatMark} seat=${seat} />
            ${seatName(seats, seat)}:${" "}
            <strong>${points?.[seat] ?? "–"}</strong>
          </li>`,
        )}
      </ul>
    </figcaption>
  </figure>`;
}
