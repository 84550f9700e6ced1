import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { LlmReader } from "../../src/memories/llm-reader.js";
import type { ChatModel } from "../../src/ports/agent.js";
import type { MessageReader, MessageToRead } from "../../src/ports/extraction.js";
import { type Proposal, perfectProposals, type Script } from "./scripted-readers.js";

/**
 * A model that means what the perfect one means and writes it badly: other case and punctuation in quotes, a word left out, categories of its
 * own, numbers as strings, fields too many and too few, and a code fence around it all. It takes the way of every model: prompt, text, parsing.
 */
export function sloppy(script: Script): MessageReader {
  let reading: MessageToRead | null = null;
  const model: ChatModel = {
    name: "sloppy",
    standIn: false,
    async *stream() {
      const operations = reading === null ? [] : perfectProposals(script, reading).map((proposal, i) => sloppily(proposal, i, reading));
      const json = JSON.stringify({ reasoning: "There is something to note.", operations }, null, 2);
      yield { type: "text" as const, delta: `Here is what I would note:\n\`\`\`json\n${json}\n\`\`\`\nLet me know!` };
      yield { type: "end" as const, reason: "stop" as const, usage: { input_tokens: 0, output_tokens: 0 } };
    },
  };
  const llm = new LlmReader(model, { name: "concierge", categories: CONCIERGE_CATEGORIES, needs: CONCIERGE_NEEDS });
  return {
    name: "sloppy",
    read: (message, options) => {
      reading = message;
      return llm.read(message, options);
    },
  };
}

/** What it calls the table's categories. */
const CALLED: Readonly<Record<string, string>> = {
  dietary: "Food & Diet",
  accessibility: "access needs",
  seating: "Seats",
  genre: "music genre",
  party_size: "party-size",
  budget: "Budget / price",
  companions: "companion",
  schedule: "SCHEDULE",
};

function sloppily(proposal: Proposal, index: number, message: MessageToRead | null): Record<string, unknown> {
  const { target_id, category = "other", ...rest } = proposal;
  const target = message?.known.findIndex(({ id }) => id === target_id) ?? -1;
  const flat = {
    ...rest,
    op: proposal.op.toUpperCase(),
    quote: misquoted(proposal.quote, index),
    category: CALLED[category] ?? category,
    confidence: index % 2 === 0 ? "0.9" : "95",
    language: "en",
    id: index,
    ...(target >= 0 && { target: `M${target + 1}` }),
  };
  if (index % 3 === 1) {
    const { op, quote, target: known, ...statement } = { target: undefined, ...flat };
    return { op, quote, ...(known !== undefined && { target: known }), statement };
  }
  return flat;
}

/** In turn: another case, other punctuation, a word left out. */
function misquoted(quote: string, index: number): string {
  const words = quote.split(" ");
  const way = (quote.length + index) % 3;
  if (way === 0) return quote.toUpperCase();
  if (way === 1) return `“${quote.replace(/,/gu, " –").replace(/['’]/gu, "`")}.”`;
  return words.length < 4 ? quote.toLowerCase() : [...words.slice(0, 2), ...words.slice(3)].join(" ");
}
