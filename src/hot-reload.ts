import type { Composed } from "./compose/compose.js";
import { loadDomain, watchDomain } from "./compose/domain-file.js";
import type { HttpApp } from "./http/app.js";
import type { RunningServer } from "./http/server.js";
import { isAppError } from "./platform/errors.js";
import type { Domain } from "./ports/agent.js";

export interface Product {
  readonly application: Composed;
  readonly app: HttpApp;
}

export interface HotReloadParts {
  readonly file: string;
  readonly first: Product;
  readonly open: (domain: Domain) => Promise<Product>;
  /** How long what is being answered may take, and then write-backs: what is left is done by the next product. In milliseconds. */
  readonly graceMs: number;
  readonly drainMs: number;
  /** A line for whoever writes the domain. */
  readonly say: (line: string) => void;
}

/**
 * A product whose domain's file is watched. When it changes, what is being answered ends with the domain that it began with; requests that
 * come meanwhile wait, and are answered with the new one. A file that can't be used leaves everything as it is, and is told. What tools
 * hold in memory begins anew.
 */
export class HotReload {
  readonly #parts: HotReloadParts;
  #now: Promise<Product>;
  #reloads: Promise<void> = Promise.resolve();
  #close: () => void = () => {};
  /** Rejects when neither the new product nor the one before could be opened. */
  readonly failed: Promise<never>;
  #fail: (error: unknown) => void = () => {};

  constructor(parts: HotReloadParts) {
    this.#parts = parts;
    this.#now = Promise.resolve(parts.first);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  readonly fetch: HttpApp["fetch"] = async (request, env, context) => (await this.#now).app.fetch(request, env, context);

  watch(server: RunningServer): void {
    const watcher = watchDomain(this.#parts.file, () => {
      this.#reloads = this.#reloads.then(() => this.#reload(server)).catch(this.#fail);
    });
    this.#close = () => watcher.close();
  }

  /** The last product, once no other is on its way. */
  async stop(): Promise<Product> {
    this.#close();
    await this.#reloads;
    return this.#now;
  }

  async #reload(server: RunningServer): Promise<void> {
    const { file, say } = this.#parts;
    const domain = await loadDomain(file).catch((error: unknown) => say(`Still with the domain as it was: ${sentenceOf(error)}`));
    if (domain === undefined) return;
    say(`Taking anew: ${file}`);
    this.#now = this.#replaced(await this.#now, domain, server);
    const { application } = await this.#now;
    if (application.parts.domain === domain) say(`Taken anew: the domain "${domain.name}"`);
  }

  async #replaced({ application }: Product, domain: Domain, server: RunningServer): Promise<Product> {
    const { graceMs, drainMs, open, say } = this.#parts;
    // They would never end by themselves; who follows comes back and misses nothing.
    application.events.endFollowers();
    await server.answered({ graceMs });
    await application.close({ drainMs });
    return open(domain).catch((error: unknown) => {
      say(`Back to the domain as it was: ${sentenceOf(error)}`);
      return open(application.parts.domain);
    });
  }
}

function sentenceOf(error: unknown): string {
  return isAppError(error) ? `${error.message} ${error.hint}` : String(error);
}
