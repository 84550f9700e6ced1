import type { Category } from "../../domain/categories.js";
import type { Need } from "../../ports/agent.js";
import { READ_MESSAGE_PROMPT } from "./read-message-prompt.js";
import { READ_SHORTLY_PROMPT } from "./read-shortly-prompt.js";

export interface ReadDomain {
  /** What the assistant is: a domain's name. */
  readonly name: string;
  readonly categories: readonly Category[];
  readonly needs: readonly Need[];
}

/** The system prompt for reading messages to this domain: the same bytes for every guest. */
export function promptFor({ name, categories, needs }: ReadDomain): string {
  return filled(READ_MESSAGE_PROMPT, {
    name,
    categories: categories.map(categoryLine).join("\n"),
    needs: [...needs, { name: "other", description: "any other thing that must hold: an allergy, a diet, access, safety" }]
      .map((need) => `  ${need.name}: ${need.description}`)
      .join("\n"),
  });
}

/** The same in short. */
export function shortPromptFor({ name, categories, needs }: ReadDomain): string {
  const names = (all: readonly { readonly name: string }[]) => all.map((each) => each.name).join(", ");
  return filled(READ_SHORTLY_PROMPT, { name, categories: names(categories), needs: names([...needs, { name: "other" }]) });
}

function filled(prompt: string, values: Readonly<Record<string, string>>): string {
  return prompt.replace(/\{(name|categories|needs)\}/gu, (_, key: string) => values[key] ?? "");
}

function categoryLine({ name, description, fixed, open }: Category): string {
  const aspects = [...fixed, ...(open === null ? [] : [open])].join(", ");
  return `  ${name}: ${description}${aspects === "" ? "" : `; aspects: ${aspects}`}`;
}
