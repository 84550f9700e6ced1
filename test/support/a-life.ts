import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Composed } from "../../src/compose/compose.js";
import type { Owner } from "../../src/domain/owner.js";

/** A word that no file has by itself. */
export const CANARY = "Quetzalfeather";

/** Says it, and waits until it is read. The session's id. */
export async function tell(application: Composed, owner: Owner, message: string, sessionId?: string): Promise<string> {
  const answer = await application.chat.chat({ owner, message, ...(sessionId === undefined ? {} : { sessionId }) });
  await application.sessions.flush(owner, answer.session_id, 20_000);
  return answer.session_id;
}

/** Every file below a directory that holds the text, in any of the encodings in which a file may hold it. */
export async function filesWith(dir: string, text: string): Promise<string[]> {
  const utf16 = Buffer.from(text, "utf16le");
  const needles = [Buffer.from(text), Buffer.from(text.toLowerCase()), utf16, Buffer.from(utf16).swap16()];
  const found: string[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = path.endsWith(".gz") ? gunzipSync(await readFile(path)) : await readFile(path);
    if (needles.some((needle) => bytes.includes(needle))) found.push(path);
  }
  return found;
}

/** What a user does who uses everything: turns, a booking, a title, a fork, an archived session, an import. */
export async function aLife(application: Composed, owner: Owner): Promise<void> {
  const first = await tell(application, owner, `I prefer the ${CANARY} jazz trio. I need step-free access.`);
  await tell(application, owner, `Two tickets for ${CANARY} please.`, first);
  const { data } = await application.sessions.messages(owner, first, {});
  await application.sessions.patch(owner, first, { title: `${CANARY} night`, tags: [CANARY] });
  const fork = await application.sessions.fork(owner, first, data[0]?.id ?? "");
  await application.sessions.patch(owner, fork.id, { status: "archived" });
  const line = JSON.stringify({ session_id: `chat-${CANARY}`, role: "user", content: `My dog is called ${CANARY}.`, message_id: "m1" });
  await application.imports.import(
    owner,
    (async function* () {
      yield Buffer.from(`${line}\n`);
    })(),
    { format: "ndjson", extract: true },
  );
  application.seen(owner, { displayName: CANARY });
}
