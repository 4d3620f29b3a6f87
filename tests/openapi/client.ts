// Ordinary client code on the types, generated with default settings. Lines after `@ts-expect-error` must not compile.
import type { components, operations } from "./moonstone";

type Schemas = components["schemas"];
type Match = Schemas["MatchView"];

// Optional members of requests
export const matches: Schemas["NewMatch"][] = [
  { game: "ape_town", seats: 2 },
  { game: "ape_town", seats: 2, clock: { turn_seconds: 30 } },
  { game: "ape_town", seats: 2, options: {} },
  { game: "monsters_on_the_moon", seats: 2, options: { walls: true }, bots: ["random"] },
  { game: "four_monkeys", seats: 3, options: { family: true, round_seconds: 60 }, private: true },
  // @ts-expect-error: seats are missing
  { game: "ape_town" },
  // @ts-expect-error: there is no such member
  { game: "ape_town", seats: 2, manual: true },
  // @ts-expect-error: there is no such option
  { game: "monsters_on_the_moon", seats: 2, options: { wals: true } },
  // @ts-expect-error: no option has such a value
  { game: "monsters_on_the_moon", seats: 2, options: { walls: "many" } },
];
export const actions: Schemas["Act"][] = [
  { action: { type: "grab", stack: 0, combo: "C1", cards: ["a", "b"] } },
  { action: { type: "grab", stack: 0, combo: "C1", cards: ["a", "b"], draw_from: null }, seat: 1 },
  { action: { type: "burn", combo: "C1" } },
  { action: { type: "replenish", mode: "extra", draw_from: 3 } },
  // @ts-expect-error: there is no such action
  { action: { type: "grasp", stack: 0 } },
  // @ts-expect-error: an action has a choice, not the pattern of a legal list
  { action: { type: "grab", stack: 0, combo: "C1", cards: { any_of: ["a", "b"], min: 1, max: 2 } } },
];
export const queries: [operations["list_matches"]["parameters"]["query"], operations["act"]["parameters"]["query"]] = [
  { game: "ape_town" },
  {},
];

// Optional members of answers
export function faults(problem: Schemas["Problem"]): string[] | undefined {
  // @ts-expect-error: most problems have no errors
  problem.errors.map((error) => error.detail);
  // @ts-expect-error: a fault of a header has no pointer
  problem.errors?.map((error) => error.pointer.length);
  return problem.errors?.map((error) => `${error.pointer ?? error.parameter}: ${error.detail}`);
}
export function retried(problem: Schemas["Problem"]): number | undefined {
  const { retry_after: after } = problem; // a member of some problems only
  return typeof after === "number" ? after : undefined;
}
export const points = (effect: Schemas["MonstersOnTheMoonPointsScored"]): number => effect.points * (effect.factor ?? 1);

// Members that are always present, although their Python class has a default
export function options(match: Match | Schemas["MatchSummary"] | Schemas["OwnMatch"] | Schemas["MatchCreated"]): string {
  if ("walls" in match.options) {
    const walls: boolean = match.options.walls;
    return walls ? "with walls" : match.options.monsters.join();
  }
  // @ts-expect-error: each game has its own
  const none = match.options.walls;
  return "round_seconds" in match.options ? match.options.round_seconds.toFixed() : String(none);
}
export const monsters = ({ observation }: Match): boolean =>
  observation?.game === "monsters_on_the_moon" && observation.options.walls;
export const faulty = (audit: Schemas["Audit"]): (number | null)[] => audit.checks.map((check) => check.version);

// Objects with any members
export const sizes = (game: Schemas["GamePage"]): unknown[] => [game.components["tiles"], game.options["$ref"]];
export const kinds = (file: operations["export_match"]["responses"][200]["content"]["application/x-ndjson"]): unknown[] =>
  file.map((line) => line["type"]);

// Events by their type
export function seats(event: Schemas["SeenEvent"]): number[] {
  // @ts-expect-error: not every event has effects
  event.data.effects;
  switch (event.type) {
    case "match_created":
      return [event.data.seats];
    case "seat_taken":
      return [event.data.seat];
    case "action":
    case "default_action":
      return event.data.effects.flatMap((effect) => ("seat" in effect && effect.seat !== null ? [effect.seat] : []));
    default:
      return [];
  }
}
type Lines = operations["list_events"]["responses"][200]["content"]["application/x-ndjson"];
export const ended = (lines: Lines): string | undefined =>
  lines.flatMap((line) => (line.type === "end" ? [line.reason] : [])).at(0);
export const unchanged: operations["show_match"]["responses"][304]["content"] = undefined;
