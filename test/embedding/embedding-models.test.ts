import { expect, test } from "vitest";
import { embeddingModelFacts } from "../../src/embedding/embedding-models.js";

test.each([
  ["nomic-embed-text", "search_query: ", "search_document: "],
  ["nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "],
  ["intfloat/multilingual-e5-small", "query: ", "passage: "],
  ["e5-base-v2", "query: ", "passage: "],
  ["text-embedding-3-small", "", ""],
  ["all-minilm", "", ""],
  ["gemini-embedding-001", "", ""],
])("%s is given its prefixes", (model, query, document) => {
  expect(embeddingModelFacts(model)).toMatchObject({ queryPrefix: query, documentPrefix: document });
});

test("an instructed e5 has an instruction for queries and nothing before documents", () => {
  const facts = embeddingModelFacts("intfloat/multilingual-e5-large-instruct");
  expect(facts.queryPrefix).toMatch(/^Instruct: .*\nQuery: $/);
  expect(facts.documentPrefix).toBe("");
});
