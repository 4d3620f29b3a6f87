// What this client reads of the API's answers. tests/api/web/contract.ts checks it against openapi.yaml.

export interface Action {
  type: string;
  [field: string]: unknown;
}

/** Stands for every choice of `min` to `max` different items. */
export interface Pattern {
  any_of: string[];
  min: number;
  max: number;
}

/** Times are those of the server's clock, in milliseconds. The seat of a game's own timer is "clock". */
export interface Decision {
  id: string;
  seat: number | string;
  step: string;
  opens_at: number;
  deadline: number | null;
  text?: string;
}

export interface Seat {
  seat: number;
  player: string | null;
  name: string | null;
  rating: number | null;
  kind: "human" | "bot" | "hosted" | null;
  resigned: boolean;
  former: string | null;
  former_name: string | null;
}

export interface Clock {
  turn_seconds?: number | null;
  bank_seconds?: number | null;
  increment_seconds?: number;
}

export interface Outcome {
  scores: readonly number[];
  ranks: readonly number[];
  winners: readonly number[];
  breakdown: readonly Record<string, number>[];
}

export type Status = "open" | "running" | "suspended" | "finished" | "aborted";

export interface Summary {
  id: string;
  game: string;
  status: Status;
  private: boolean;
  manual_start: boolean;
  rated: boolean;
  clock: Clock | null;
  creator: string;
  creator_name: string | null;
  seats: readonly Seat[];
  version: number;
  head: string;
  created_at: number;
  ended_at: number | null;
  banks: readonly number[];
  outcome: Outcome | null;
  expires_at: number | null;
  abort_asked: readonly number[];
}

export interface OwnMatch extends Summary {
  seat: number | null;
  decisions: readonly Decision[];
}

export interface Match extends Summary {
  viewer: number | null;
  decisions: readonly Decision[];
  join_code?: string;
}

/** What `include=decisions,legal_actions,texts` adds to a frame of a stream. */
export interface Situation {
  decisions?: readonly Decision[];
  banks?: readonly number[];
  legal_actions?: readonly Action[];
  action_texts?: readonly string[];
}

export interface Hello extends Situation {
  type: "hello";
  version: number;
  head: string;
  now: number;
  heartbeat_ms: number;
}

export interface MatchEvent extends Situation {
  type: string;
  version: number;
  hash: string;
  at: number;
  by: string;
  text?: string;
}

export interface End {
  type: "end";
  reason: string;
  version: number;
  head: string;
}

export interface GameSummary {
  id: string;
  title: string;
  seats: readonly number[];
  bots: readonly string[];
}

/** A hosted bot; its owner says who may give it a seat. */
export interface PublicBot {
  id: string;
  name: string;
  owner: string;
  owner_name: string | null;
  games: readonly string[];
  seating: "everyone" | "owner";
}

/** `options` is a JSON Schema, `variants` are options by name, `texts` are by language and key, `rules` is Markdown. */
export interface Game extends GameSummary {
  options: Schema;
  variants: Record<string, Record<string, unknown>>;
  rules: string;
  texts: Record<string, Record<string, string>>;
}

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
}

export interface Player {
  id: string;
  name: string;
}

/** `created_at` is null for tokens of older releases, `expires_at` for those that do not expire. `current`: that of the request. */
export interface Token {
  id: string;
  label: string;
  scopes: readonly string[];
  created_at: number | null;
  last_used_at: number | null;
  expires_at: number | null;
  current: boolean;
}

/** `mu` and `sigma` (its uncertainty) are in millionths; `rating` follows from them. */
export interface Rating {
  rating: number;
  mu: number;
  sigma: number;
}

/** How the counted matches of a player in a game ended. */
export interface Results extends Rating {
  matches: number;
  won: number;
  shared: number;
  lost: number;
}

export interface Leader extends Results {
  rank: number;
  player: string;
  name: string | null;
  kind: "human" | "bot" | "hosted";
}

export interface Leaderboard {
  game: string;
  players: readonly Leader[];
  next: string | null;
}

/** `rank` is null without a place on the leaderboard. */
export interface PlayerRating extends Results {
  game: string;
  rank: number | null;
  opponents: number;
}

export interface PlayerPage {
  id: string;
  name: string | null;
  kind: "human" | "bot" | "hosted";
  ratings: readonly PlayerRating[];
}

export interface RatedMatch {
  game: string;
  match: string;
  rated_at: number;
  counted: boolean;
  rank: number;
  before: Rating;
  after: Rating;
}

export interface RatingHistory {
  matches: readonly RatedMatch[];
  next: string | null;
}

/** RFC 9457. */
export interface ProblemDocument {
  status: number;
  code: string;
  title: string;
  detail: string;
  [member: string]: unknown;
}

/** A line of a timeline: a version in words. */
export interface Moment {
  version: number;
  at: number;
  by: string;
  type: string;
  text: string;
  points: readonly number[] | null;
  clauses: readonly string[];
}

export interface CheckResult {
  check: "chain" | "draws" | "effects" | "actions" | "outcome";
  result: "passed" | "failed" | "not_yet" | "not_checked";
  version: number | null;
  detail: string | null;
}

export interface Audit {
  match: string;
  version: number;
  head: string;
  checks: readonly CheckResult[];
}
