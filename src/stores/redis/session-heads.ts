import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { script } from "../../platform/lua-script.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import { keptFor } from "../journal/kept-content.js";
import type { RewindMark } from "../journal/rewound-records.js";
import type { SessionHead } from "../journal/session-heads.js";
import { stateOf } from "../sqlite-index/sqlite-index-rows.js";
import type { RedisDatabase } from "./database.js";

export interface RedisHead extends SessionHead {
  /** All rewinds of the journal, in order. */
  readonly rewinds: readonly RewindMark[];
}

const HEAD = script(
  ["head", "states"],
  `local head = call('HMGET', K.head, 'last_seq', 'last_turn', 'rewinds', 'incarnation')
return { head[1], head[2], head[3], head[4] or '', call('HGET', K.states, ARGV[1]) }`,
);

/** @throws SESSION_NOT_FOUND, also for somebody else's */
export async function readHead(database: RedisDatabase, owner: Owner, sessionId: string, codec: ContentCodec | null): Promise<RedisHead> {
  const reply = await database.run(HEAD, database.keys(owner, sessionId), sessionId);
  const [lastSeq, lastTurn, rewinds, incarnation, state] = reply as readonly (string | null)[];
  if (lastSeq == null) throw new AppError("SESSION_NOT_FOUND");
  return {
    owner,
    incarnation: incarnation ?? "",
    lastSeq: Number(lastSeq),
    lastTurn: Number(lastTurn),
    rewinds: rewindsOf(rewinds),
    state: state == null ? null : stateOf(state, await keptFor(codec, owner)),
  };
}

/** As a head keeps them: pairs of the seqs of a rewind and of the record that it goes back to. */
export function rewindsOf(json: string | null | undefined): readonly RewindMark[] {
  const pairs = JSON.parse(json ?? "[]") as readonly (readonly [number, number])[];
  return pairs.map(([seq, toSeq]) => ({ seq, toSeq }));
}

export function rewindsJson(rewinds: readonly RewindMark[]): string {
  return JSON.stringify(rewinds.map(({ seq, toSeq }) => [seq, toSeq]));
}
