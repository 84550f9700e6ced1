import Database from "better-sqlite3";
import { wordsOf } from "../../src/platform/language/tokens.js";
import type { Conversation } from "./dataset.js";

/** Plain BM25, the baseline: SQLite FTS5 with the porter stemmer, OR of the question's words but stop words. */
export function plainBm25({ messages }: Conversation): (question: string) => string[] {
  const db = new Database(":memory:");
  db.exec("CREATE VIRTUAL TABLE said USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')");
  const insert = db.prepare("INSERT INTO said (id, text) VALUES (?, ?)");
  for (const { id, text } of messages) insert.run(id, text);
  const select = db.prepare<[string], { id: string }>("SELECT id FROM said WHERE said MATCH ? ORDER BY rank LIMIT 200");
  return (question) => {
    const words = wordsOf(question).flatMap(({ text, stop }) => (stop ? [] : [text]));
    return words.length === 0 ? [] : select.all(words.map((word) => `"${word}"`).join(" OR ")).map(({ id }) => id);
  };
}
