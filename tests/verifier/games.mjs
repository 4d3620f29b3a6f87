// The facts about each game that the checks need: numbers of seats; its own bots (the first takes over seats after a
// timeout; `random` plays every game); whether the rules have time limits; for simultaneous decisions, the effects that
// open them, and the bell that ends them, if there is one; the parts of a score; and the draws of each event in order,
// with their lists; and the options of a rated match. The lists are in the game's components.json, and the labels in
// its RULES.md. A new game adds a row.

import { readFileSync } from "node:fs";
import { pick, shuffle, unchecked } from "./draws.mjs";

const box = (game) => JSON.parse(readFileSync(new URL(`../../service/games/${game}/components.json`, import.meta.url)));
const copies = (rows, id) => rows.flatMap((row) => numbered(row.copies).map((n) => `${id(row)}-${n}`));
const numbered = (count) => Array.from({ length: count }, (_, n) => n + 1);
const seats = (match) => match.seats.map((_, seat) => seat);
/** The default options, and those of each variant. */
const defaultsOr = (defaults, ...variants) => [defaults, ...variants.map((variant) => ({ ...defaults, ...variant }))];

const monkeys = box("monkeys_on_the_moon");
const ape = box("ape_town");
const four = box("four_monkeys");
const monsters = box("monsters_on_the_moon");

export const GAMES = {
  monkeys_on_the_moon: {
    ruleset: 1,
    seats: [2, 3, 4],
    bots: ["greedy"],
    options: ["maximum_scorn", "treachery"],
    ratedOptions: () =>
      defaultsOr(
        { maximum_scorn: false, treachery: false },
        { maximum_scorn: true }, { treachery: true }, { maximum_scorn: true, treachery: true },
      ),
    breakdown: ["titles", "ships", "scorn"],
    draws: {
      match_started: (match) => [
        shuffle("alliance_circle", monkeys.tribes),
        shuffle("monkey_deck", copies(monkeys.monkey_cards, (card) => `${card.tribe}-${card.status}`)),
        shuffle("civilization_deck", copies(monkeys.civilization_cards, (card) => `${card.tribe}-${card.spaces}`)),
        shuffle("ship_deck", monkeys.ship_cards.map((ship) => `${ship.border}-${ship.capacity}`)),
        pick("first_seat", seats(match)),
      ],
      match_scored: () => [shuffle("finish_ties", monkeys.tribes)],
    },
  },
  ape_town: {
    ruleset: 1,
    seats: [2, 3, 4],
    bots: ["greedy"],
    options: [],
    ratedOptions: () => [{}],
    breakdown: ["placement", "boss", "neighbours", "money"],
    draws: {
      match_started: (match) => [
        shuffle("tiles", Object.entries(ape.tiles).flatMap(([tile, row]) => Array(row.count).fill(tile))),
        pick("first_seat", seats(match)),
      ],
    },
  },
  four_monkeys: {
    ruleset: 1,
    seats: [2, 3, 4, 5, 6, 7, 8],
    bots: ["greedy"],
    keepsTime: true,
    waits: {
      round_opened: ({ starts_at, deadline }) => ({ label: "round", opensAt: starts_at, deadline }),
      check_opened: ({ opens_at, deadline }) => ({ label: "check", opensAt: opens_at, deadline }),
    },
    options: ["banana_skins", "countdown_seconds", "family", "round_seconds", "timer_visible"],
    ratedOptions: () =>
      defaultsOr(
        {
          banana_skins: false, countdown_seconds: 5, family: false, round_seconds: four.round_seconds,
          timer_visible: true,
        },
        { banana_skins: true }, { family: true, round_seconds: four.family_round_seconds },
      ),
    breakdown: ["round_1", "round_2", "round_3", "round_4", "false_stops"],
    draws: {
      match_started: (match, event) => [shuffle("seating", seats(match)), ...rounds(match, event)],
      action: rounds,
      default_action: rounds,
      timer: rounds,
    },
  },
  monsters_on_the_moon: {
    ruleset: 1,
    seats: [1, 2, 3, 4],
    bots: ["greedy"],
    waits: { decision_opened: () => null },
    options: ["layout", "missions", "monsters", "walls"],
    ratedOptions: (count) =>
      defaultsOr(
        {
          layout: "just_landed", missions: null, walls: false,
          monsters: ["werewolf", "witch", "vampire", "skeleton"].slice(0, count),
        },
        { missions: "secret" }, { missions: "open" }, { walls: true },
      ),
    breakdown: [
      "interim_singles", "interim_groups", "singles", "groups", "largest_group", "vampires", "crystals", "mission",
      "witches", "werewolves",
    ],
    draws: {
      match_started({ options, seats: { length } }) {
        const deck = length === 4 ? monsters.deck_4 : monsters.deck_2_3;
        const isDealt = (card) => length > 1 && options.monsters.includes(card.start_card_of);
        const missions = monsters.missions.filter((mission) => mission.open || options.missions === "secret");
        return [
          shuffle("deck", deck.filter((card) => !isDealt(card)).map((card) => card.id)),
          ...(length > 1 ? [pick("first_seat", [...Array(length).keys()])] : []),
          ...(options.missions ? [shuffle("missions", missions.map((mission) => mission.id))] : []),
        ];
      },
      action: interim,
      default_action: interim,
    },
  },
};

/** 4 Monkeys: the draws of each setup of a round. An event may have several. */
function rounds(match, event) {
  const cards = copies(four.figure_cards_per_deck, (card) => card.figures.join("-"));
  const combos = (count) => numbered(count).flatMap((n) => four.combo_tiles.map((combo) => `${combo.id}-${n}`));
  const opened = event.data.effects.filter((effect) => effect.type === "round_opened");
  return opened.flatMap(({ areas }) => [
    ...seats(match).map((seat) => shuffle(`deck:${seat}`, cards.map((card) => `${seat}:${card}`))),
    ...areas.map((area, n) => shuffle(`combos:${n}`, combos(four.sets_in_play[area.length]))),
  ]);
}

/** Monsters on the Moon: only the rules know which seats are tied after the interim scoring. */
function interim(_match, event) {
  const isDrawn = (effect) => effect.type === "decider_named" && effect.by === "draw";
  return event.data.effects.filter(isDrawn).map(() => unchecked("first_after_interim"));
}

// The toy game of the tests. Its draws during a match depend on hands and discards.
const toyInMidMatch = (_match, event) => (event.data.draws ?? []).map((draw) => unchecked(draw.label));
GAMES.toy = {
  ruleset: 1,
  seats: [2, 3, 4],
  bots: ["high"],
  waits: {
    trick_opened: ({ opens_at, deadline }) => ({ label: "trick", opensAt: opens_at, deadline }),
    swap_opened: () => null,
  },
  options: ["countdown_ms", "hand", "ties", "timer_visible", "trick_ms", "tricks"],
  ratedOptions: () => [
    { countdown_ms: 1_000, hand: 3, ties: "drawn", timer_visible: true, trick_ms: 30_000, tricks: 4 },
  ],
  breakdown: ["tricks", "luck", "missed"],
  draws: {
    match_started: () => [
      shuffle("deck", numbered(13).flatMap((value) => numbered(4).map((n) => `${value}-${n}`))),
      shuffle("luck", numbered(13)),
    ],
    action: toyInMidMatch,
    default_action: toyInMidMatch,
    timer: toyInMidMatch,
    match_scored: (match) => (match.options.ties === "shared" ? [] : [shuffle("ties", seats(match))]),
  },
};
