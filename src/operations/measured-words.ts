import type { ModelMeasure } from "../ports/chat-model.js";

/** What was measured of a model, for a person, and since when that is so; null where nothing was. */
export function measuredWords(measure: ModelMeasure | null): string | null {
  if (measure === null) return null;
  const { contextTokens, inputPerSecond, outputPerSecond, measuredAt = null } = measure;
  const told = [
    contextTokens === null ? null : `${contextTokens.toLocaleString("en")} tokens at once`,
    inputPerSecond === null ? null : `reads ${perSecond(inputPerSecond)}`,
    outputPerSecond === null ? null : `writes ${perSecond(outputPerSecond)}`,
  ].filter((part) => part !== null);
  if (measuredAt === null || told.length === 0) return null;
  return `${told.join(", ")} (measured since ${measuredAt.slice(0, "2027-03-28T09:05".length).replace("T", " ")} UTC)`;
}

function perSecond(tokens: number): string {
  return `${Math.max(1, Math.round(tokens)).toLocaleString("en")} tokens a second`;
}
