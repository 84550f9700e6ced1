import { z } from "zod";
import type { MaitredParts, Overrides } from "../compose/compose.js";
import { checkedTenants } from "../compose/tenants.js";
import { type Category, parseCategories } from "../domain/categories.js";
import { assistant } from "../languages/assistant.js";
import { invalidConfig } from "../platform/invalid-config.js";
import { present } from "../platform/present.js";
import type { AnyTool, Domain } from "../ports/agent.js";
import type { MessageReader } from "../ports/extraction.js";
import type { Settings } from "./settings.js";

/** The options of `createMaitred`: the variables in the table, and parts of one's own. All may be left out. */
export interface MaitredOptions extends Settings, Omit<MaitredParts, "reader"> {
  /** Variables as text, such as `process.env`; options come before them. Default: none, the process environment is not read. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The assistant's system prompt: stable, without dates or user data. Instead of the domain's; without a domain: of a product of
   * one's own.
   */
  readonly prompt?: string | undefined;
  /** What the assistant can do, made with `defineTool`; beside the domain's. Without a domain they need a `prompt`. */
  readonly tools?: readonly AnyTool[] | undefined;
  /** Reads what messages say for memories; what it proposes is checked. Default: the model, beside the stand-in its rules. */
  readonly extractor?: MessageReader | undefined;
}

export const PART_OPTIONS = Object.keys({
  env: true,
  prompt: true,
  tools: true,
  extractor: true,
  logger: true,
  clock: true,
  domain: true,
  model: true,
  embedder: true,
  agent: true,
  categories: true,
  tenants: true,
  state: true,
  vectors: true,
  keyVault: true,
  beforeTool: true,
  afterTurn: true,
  reembed: true,
  metrics: true,
} satisfies Record<Exclude<keyof MaitredOptions, keyof Settings>, true>);

/**
 * The product that options make: a domain, with another prompt or more tools; without a domain one of a prompt and tools alone; null
 * for the concierge. @throws INVALID_CONFIG
 */
export function productOf({ domain, prompt, tools }: Pick<MaitredOptions, "domain" | "prompt" | "tools">): MaitredOptions["domain"] {
  const changed = (product: Domain): Domain => ({
    ...product,
    prompt: prompt ?? product.prompt,
    tools: [...product.tools, ...(tools ?? [])],
  });
  if (domain !== undefined) refuseNoDomain(domain);
  if (domain !== undefined)
    return "open" in domain ? { ...domain, open: async (parts) => changed(await domain.open(parts)) } : changed(domain);
  if (prompt !== undefined) return assistant(prompt, tools);
  if (tools === undefined) return undefined;
  const detail = "tools: without a `domain` they need a `prompt` that says what the assistant is";
  throw invalidConfig([{ pointer: "/tools", detail }]);
}

/** For whoever writes it without types. @throws INVALID_CONFIG */
function refuseNoDomain(given: unknown): void {
  const { open, name, prompt, tools } = (typeof given === "object" && given !== null ? given : {}) as Readonly<Record<string, unknown>>;
  if (typeof open === "function" || (typeof name === "string" && typeof prompt === "string" && Array.isArray(tools))) return;
  const detail = "domain: this is none";
  const hint =
    typeof given === "string"
      ? `A file is named as \`domainFile: ${JSON.stringify(given.slice(0, 64))}\`.`
      : "Give what `defineDomain({ … })` returns.";
  throw invalidConfig([{ pointer: "/domain", detail }], { hint });
}

/** What is brought along, without what is undefined. @throws INVALID_CONFIG */
export function overridesOf({ categories, tenants, metrics: _asked, ...parts }: MaitredParts): Overrides {
  return {
    ...(present(parts) as Overrides),
    ...(categories && { categories: checkedCategories(categories) }),
    ...(tenants && { tenants: checkedTenants(tenants) }),
  };
}

function checkedCategories(categories: readonly Category[]): readonly Category[] {
  try {
    return parseCategories(categories);
  } catch (cause) {
    const detail = `categories: ${cause instanceof z.ZodError ? z.prettifyError(cause) : "can't be read"}`;
    throw invalidConfig([{ pointer: "/categories", detail }], { cause });
  }
}
