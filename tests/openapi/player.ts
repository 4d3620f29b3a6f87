// A client program on the generated types. The test also compiles it with a typing error, which the types must reject.
import type { components, paths } from "./moonstone";

type Schemas = components["schemas"];
type View = paths["/v1/matches/{match_id}"]["get"]["responses"]["200"]["content"]["application/json"];
type Body = paths["/v1/matches/{match_id}/actions"]["post"]["requestBody"]["content"]["application/json"];

export function bid(view: View): Body | null {
  const { observation } = view;
  if (observation === null || observation.game !== "monkeys_on_the_moon" || view.viewer === null) {
    return null;
  }
  const turn = view.decisions.find((decision) => decision.seat === view.viewer);
  return turn?.step === "bid" ? { action: { type: "bid", coins: { red: 1 } }, decision: turn.id } : null;
}

export function describe(event: Schemas["SeenEvent"]): string {
  switch (event.type) {
    case "match_started":
      return event.data.effects.map((effect) => effect.type).join(", ");
    case "match_scored":
      return event.data.outcome.scores.join(" : ");
    default:
      return event.text ?? event.type;
  }
}

export function summary(problem: Schemas["Problem"]): string {
  return `${problem.status} ${problem.code}: ${problem.detail}`;
}
