import { mergedId } from "../domain/owner.js";
import type { JournalRecord, NewRecord } from "../domain/session.js";
import type { MergedUsers } from "../ports/identities.js";

export interface CopiedSession {
  readonly users: MergedUsers;
  /** All, in order, with what was taken back. */
  readonly records: readonly JournalRecord[];
  /** True where the other owner has a session of that name, or a request with that key: the copy goes without it. */
  readonly isTaken: (what: { readonly externalId: string } | { readonly key: string }) => boolean;
}

/** The journal of a session as another owner's: the same records under the same ids and times, in a session of another id. Pure. */
export function copiedRecords({ users, records, isTaken }: CopiedSession): NewRecord[] {
  const memory = (id: string) => mergedId("memory", users.to, users.id, id);
  const session = (id: string) => mergedId("session", users.to, users.id, id);
  const placeOf = (seq: number) => records.filter((record) => record.seq <= seq).length;
  return records.map((record): NewRecord => {
    const { v: _, seq: __, ...copy } = record;
    switch (copy.type) {
      case "session": {
        const { external_id, forked_from } = copy.body;
        const name = external_id !== null && isTaken({ externalId: external_id }) ? null : external_id;
        const fork = forked_from === null ? null : { ...forked_from, session_id: session(forked_from.session_id) };
        return { ...copy, body: { ...copy.body, owner: users.to, external_id: name, forked_from: fork, merged: users.id } };
      }
      case "session_patch":
        return { ...copy, body: { ...unkeyed(copy.body, isTaken), merged: users.id } };
      case "rewind":
        return { ...copy, body: { ...copy.body, to_seq: placeOf(copy.body.to_seq), to_offset: 0 } };
      case "message": {
        const { memory: told, asked, ...body } = unkeyed(copy.body, isTaken);
        const recalled = (each: NonNullable<typeof told>["recalled"][number]) => ({
          ...each,
          id: memory(each.id),
          source: each.source === null ? null : { ...each.source, session_id: session(each.source.session_id) },
        });
        return {
          ...copy,
          body: {
            ...body,
            merged: users.id,
            ...(asked !== undefined && { asked: asked.map(memory) }),
            ...(told !== undefined && {
              memory: {
                ...told,
                recalled: told.recalled.map(recalled),
                used: told.used.map(memory),
                to_confirm: told.to_confirm.map((each) => ({ ...each, id: memory(each.id) })),
              },
            }),
          },
        };
      }
      default:
        return copy;
    }
  });
}

function unkeyed<T extends { idempotency?: { key: string } | undefined }>(body: T, isTaken: CopiedSession["isTaken"]): T {
  if (body.idempotency === undefined || !isTaken({ key: body.idempotency.key })) return body;
  const { idempotency: _, ...rest } = body;
  return rest as T;
}
