import type { Parts } from "../compose/composed.js";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Application } from "../ports/application.js";
import type { EventListener, EventPattern } from "../ports/events.js";
import type { ReadableMetrics } from "../ports/metrics.js";
import { partsOf } from "./handle-parts.js";
import type { MaitredUser } from "./user.js";

/** Maitred in one's own process. */
export interface Maitred extends Application {
  /**
   * What was counted and timed since the start, as Prometheus reads it: `metrics: true` asks for it. Without what Node tells of the
   * process, which is the application's own. @throws INVALID_CONFIG where nothing is counted
   */
  metrics(): Promise<string>;
  /** As {@link Application.events}' `on`: `maitred.on("memory.added", ({ user, data }) => …)`. Returns how to stop it. */
  on<Pattern extends EventPattern>(pattern: Pattern, listener: EventListener<Pattern>): () => void;
  /**
   * The owner of a user of a tenant (default `default`): who they are by now, where they were merged with somebody. One cheap read, to be
   * done anew for each request. @throws INVALID_USER_ID at once, OWNER_ERASED, STORAGE_UNAVAILABLE
   */
  owner(user: string, tenant?: string): Promise<Owner>;
  /**
   * The handle of one user, given by id or with more: `tenant`, default `default`; `timeZone`, an IANA name, where it is known. Everything
   * for them goes through it, and it is what adapters of frameworks take. The user must be the server's own knowledge of who that is. Costs
   * nothing. @throws INVALID_USER_ID, UNKNOWN_FIELD, INVALID_REQUEST where no user is named, and for what is no time zone, SHUTTING_DOWN
   * once this is closed
   */
  for(user: string | { readonly user: string; readonly tenant?: string; readonly timeZone?: string }): MaitredUser;
}

/** What a server needs beside the use-cases. */
export interface ServerParts extends Pick<Parts, "config" | "limiter" | "operator" | "log"> {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Null where nothing is counted. */
  readonly metrics: ReadableMetrics | null;
  /** @throws SHUTTING_DOWN once all is closed */
  asked(): void;
}

/** Holds keys: not to be seen in a dump of the object. */
export const SERVER_PARTS = Symbol("server parts");

/** @throws INVALID_CONFIG for an object that neither function made */
export function serverPartsOf(maitred: Maitred | undefined): ServerParts {
  const parts = partsOf<ServerParts>(maitred, SERVER_PARTS);
  if (parts !== undefined) return parts;
  throw new AppError("INVALID_CONFIG", {
    detail: "This is no object that createMaitred or createOrchestrator made.",
    hint: "Give what `await createMaitred(…)` gave.",
  });
}
