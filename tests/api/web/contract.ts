// What the web client reads of the API must be what openapi.yaml describes: each line fails to compile if it is not.
import type { components } from "openapi";
import type * as web from "../../../api/web/types";

type Schemas = components["schemas"];
/** Compiles only if every value of the API's type is one of the client's type. */
type Is<Client, _Api extends Client> = true;

export type Contract = [
  Is<web.Decision, Schemas["SeenDecision"]>,
  Is<web.Seat, Schemas["SeatView"]>,
  Is<web.Outcome, Schemas["Outcome"]>,
  Is<web.Summary, Schemas["MatchSummary"]>,
  Is<web.OwnMatch, Schemas["OwnMatch"]>,
  Is<web.Match, Schemas["MatchView"]>,
  Is<web.Hello, Schemas["StreamHello"]>,
  Is<web.MatchEvent, Schemas["SeenEvent"]>,
  Is<web.End, Schemas["StreamEnd"]>,
  Is<web.GameSummary, Schemas["GameSummary"]>,
  Is<web.PublicBot, Schemas["PublicBot"]>,
  Is<web.Player, Schemas["Player"]>,
  Is<web.Token, Schemas["TokenView"]>,
  Is<web.Leaderboard, Schemas["Leaderboard"]>,
  Is<web.PlayerPage, Schemas["PlayerPage"]>,
  Is<web.RatingHistory, Schemas["RatingHistory"]>,
  Is<web.Moment, Schemas["Moment"]>,
  Is<web.Audit, Schemas["Audit"]>,
  Is<web.ProblemDocument, Schemas["Problem"]>,
];
