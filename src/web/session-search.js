import { sessionApi } from "./session-api.js";
import { holdsWords } from "./words.js";

/** Conversations by their titles and by what was said in them. */

/** From which score on a message is near in meaning; one that only shares a letter or two stays far below. */
const NEAR = 0.5;
/** Conversations that are shown for what was said in them. */
const MAX_FOUND = 15;

/** `{ session, hit }`, titles first; `hit` is the best message that fits, null where the title does. */
export async function findSessions(text) {
  const titled = (status) => sessionApi.list({ title: text, limit: 30, status });
  const [current, archived, said] = await Promise.all([titled("active"), titled("archived"), saidWith(text)]);
  const found = new Map([...current.data, ...archived.data].map((session) => [session.id, { session, hit: null }]));
  const first = new Map();
  for (const hit of said) if (!first.has(hit.session_id)) first.set(hit.session_id, hit);
  const others = [...first.values()].filter((hit) => !found.has(hit.session_id)).slice(0, MAX_FOUND);
  const sessions = await Promise.all(others.map((hit) => sessionApi.get(hit.session_id).catch(() => null)));
  for (const [n, session] of sessions.entries()) {
    if (session && session.status !== "deleted") found.set(session.id, { session, hit: others[n] });
  }
  return [...found.values()];
}

/** Nothing where the server keeps no history to search. */
async function saidWith(text) {
  try {
    return (await sessionApi.said(text)).filter(({ content, score }) => score >= NEAR || holdsWords(content, text));
  } catch (error) {
    if (error.code === "HISTORY_DISABLED" || error.status === 503) return [];
    throw error;
  }
}

/** Characters of a message that are shown before the word that was searched for, at most, and in all. */
const BEFORE = 16;
const AROUND = 90;

/** A piece of the message around the first word that was searched for, in three parts: before it, it, and behind it. */
export function snippet(content, text) {
  const [word = ""] = text.trim().split(/\s+/);
  const at = content.toLowerCase().indexOf(word.toLowerCase());
  if (at < 0) return [content.slice(0, AROUND), "", ""];
  const near = content.slice(Math.max(0, at - BEFORE), at);
  const cut = at > BEFORE;
  // Not from within a word.
  const before = cut ? `…${near.slice(near.indexOf(" ") + 1)}` : near;
  return [before, content.slice(at, at + word.length), content.slice(at + word.length, at + AROUND)];
}
