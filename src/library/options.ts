import { z } from "zod";
import type { MakeAgent, Overrides } from "../compose/compose.js";
import { checkedTenants, type Tenants } from "../compose/tenants.js";
import { type Category, parseCategories } from "../domain/categories.js";
import type { DomainToOpen } from "../gate/domain-to-open.js";
import { assistant } from "../languages/assistant.js";
import type { Clock } from "../platform/clock.js";
import { invalidConfig } from "../platform/invalid-config.js";
import type { Logger } from "../platform/logger.js";
import { present } from "../platform/present.js";
import type { Agent, AnyTool, BeforeTool, ChatModel, Domain } from "../ports/agent.js";
import type { AfterTurnHook } from "../ports/application.js";
import type { Embedder } from "../ports/embedding.js";
import type { MessageReader } from "../ports/extraction.js";
import type { KeyVault } from "../ports/key-vault.js";
import type { VectorStore } from "../ports/vectors.js";
import type { StateEngine } from "../state/engine.js";
import type { Settings } from "./settings.js";

/** Parts of one's own instead of those that the configuration would choose. */
export interface MaitredParts {
  /**
   * Told of what happens, without anybody's words: from `logLevel` on where one is given, else of all. Default: standard error where
   * `logLevel` is given, else silent.
   */
  readonly logger?: Logger | undefined;
  /** Default: the machine's. */
  readonly clock?: Clock | undefined;
  /** The product on top: prompt, tools, needs, categories. Default: that of `@maitred/concierge`, else an assistant. */
  readonly domain?: Domain | DomainToOpen | undefined;
  /** Default: by configuration; without a key a stand-in that plays the domain's script. */
  readonly model?: ChatModel | undefined;
  /** Default: by configuration; without a key a model in the package. */
  readonly embedder?: Embedder | undefined;
  /** Reads what messages say for memories; what it proposes is checked. Default: the model, beside the stand-in its rules. */
  readonly reader?: MessageReader | undefined;
  /** Answers a turn; a function is given the model and the tools. Default: a loop of thinking and acting by tool calls. */
  readonly agent?: Agent | MakeAgent | undefined;
  /** What is remembered, by category; one of them is `other`. A domain's own come first. Default: the product's. */
  readonly categories?: readonly Category[] | undefined;
  /** What tenants have of their own, by their names; before those of `tenantsFile`, whole. Default: nothing. */
  readonly tenants?: Tenants | undefined;
  /**
   * Where all state is kept but vectors: sessions, owners, the memory log, jobs, events, bookings. Closed with everything else. Default: by
   * `shortTermBackend`.
   */
  readonly state?: StateEngine | undefined;
  /** Memories and history. Closed with everything else. Default: by `mem0Provider` and `historyBackend`. */
  readonly vectors?: VectorStore | undefined;
  /** Encrypts what is kept: wraps the keys that it is encrypted under. Default: by `encryptionKeyFile`. */
  readonly keyVault?: KeyVault | undefined;
  /** Looks at each call of a tool before it runs: may refuse it, or have the user asked. Default: every call runs. */
  readonly beforeTool?: BeforeTool | undefined;
  /** Told of each answered turn, once it is kept. */
  readonly afterTurn?: AfterTurnHook | undefined;
  /** Fits what is stored to an embedder that has changed, before anything else: may take long. Default false. */
  readonly reembed?: boolean | undefined;
  /** Counts and times what happens, for `maitred.metrics()` and for `GET /metrics` of an app over it. Default false. */
  readonly metrics?: boolean | undefined;
}

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

/** Names of the options that are no variables. */
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
