import type { Owner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import type { Page, SessionQuery } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { ownerPartition } from "../partition.js";
import { activitiesOf, activityKey, activityOf } from "./keys.js";
import { listed, type ReadSessions } from "./list-cursor.js";
import { readSessions } from "./sessions-read.js";

/** A page of an owner's sessions: a range of their order, then their rows. */
export async function listSessions(engine: StateEngine, owner: Owner, query: SessionQuery): Promise<Page<Session>> {
  const read: ReadSessions = async ({ status = "active" }, after, most) => {
    const range = prefixRange(activitiesOf(status));
    const to = after === null ? range.to : activityKey({ status, updated_at: after.updatedAt, id: after.id });
    const { ranges } = await engine.read(ownerPartition(owner), { ranges: [{ from: range.from, to, limit: most, reverse: true }] });
    const ids = (ranges[0] ?? []).map(({ key }) => activityOf(key).id);
    return (await readSessions(engine, owner, ids)).map(({ session }) => session);
  };
  return listed(owner, query, { filters: query.tag === undefined && query.title === undefined, read });
}
