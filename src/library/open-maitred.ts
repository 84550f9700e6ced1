import type { Composed, MaitredParts } from "../compose/compose.js";
import { type Config, parseConfig } from "../compose/config.js";
import { warnOfMisspelt } from "../compose/environment.js";
import { openMetrics } from "../compose/telemetry.js";
import { DEFAULT_TENANT, ownerOf } from "../domain/owner.js";
import { type Clock, systemClock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { loadWaiting } from "../platform/loaded-later.js";
import { fromLevel, type Logger, silentLogger } from "../platform/logger.js";
import { createLogger } from "../platform/pino-logger.js";
import { isTimeZone } from "../platform/time-zone.js";
import type { Application } from "../ports/application.js";
import { checkedChat, type UserParts } from "./checked.js";
import { knownOptions, optionsOf } from "./known-options.js";
import { type Maitred, SERVER_PARTS, type ServerParts } from "./maitred.js";
import { type MaitredOptions, overridesOf, PART_OPTIONS, productOf } from "./options.js";
import { MaitredUser } from "./user.js";
import { configOf } from "./variables-of.js";

/** As `createMaitred`. */
export async function openMaitred(options: MaitredOptions): Promise<Maitred> {
  const { env = {}, prompt, tools, extractor, ...given }: MaitredOptions = optionsOf(options);
  const config = configOf(given, env, PART_OPTIONS);
  const named = Object.entries(given).filter(([name]) => PART_OPTIONS.includes(name));
  const parts: MaitredParts = {
    ...Object.fromEntries(named),
    domain: productOf({ domain: given.domain, prompt, tools }),
    reader: extractor,
  };
  return open(config, env, given.logLevel !== undefined, parts);
}

/** As `createOrchestrator`. */
export async function openOrchestrator(variables: Readonly<Record<string, string | undefined>>, parts: MaitredParts): Promise<Maitred> {
  return open(parseConfig(variables), variables, false, parts);
}

/** `asked`: a level was named. One's own logger is then told from that level on; without one standard error is. */
function loggerOf(own: Logger | undefined, { LOG_LEVEL: level, LOG_CONTENT: content }: Config, asked: boolean): Logger {
  if (own !== undefined) return asked ? fromLevel(own, level) : own;
  return asked ? createLogger({ level, content }) : silentLogger;
}

/** Logs where a level was asked for, with `logs` or in `env`. */
async function open(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  logs: boolean,
  parts: MaitredParts,
): Promise<Maitred> {
  const { clock = systemClock } = parts;
  const logger = loggerOf(parts.logger, config, logs || (env.LOG_LEVEL ?? "").trim() !== "");
  warnOfMisspelt(env, logger);
  const metrics = parts.metrics === true ? await openMetrics({ process: false }) : null;
  const overrides = { ...overridesOf({ ...parts, logger }), ...(metrics && { metrics }) };
  // Importing the package loads none of the stores.
  const { compose } = await import("../compose/compose.js");
  const composed = await compose(config, overrides);
  setImmediate(loadWaiting);
  return opened(composed, { logger, clock, metrics });
}

/** Everything for one user, over an application that somebody else opened. */
export function userOf(application: Application, user: UserParts, clock: Clock): MaitredUser {
  return new MaitredUser(application, user, { clock });
}

type Named = Exclude<Parameters<Maitred["for"]>[0], string>;

const OF_A_USER = { user: true, tenant: true, timeZone: true } as const satisfies Record<keyof Named, true>;

/** @throws INVALID_REQUEST where no user is named, UNKNOWN_FIELD for what is no option: a misspelt tenant would be another's user */
function namedUser(given: Named | string): Named {
  const named: Partial<Named> = typeof given === "string" ? { user: given } : optionsOf(given);
  if (typeof named.user !== "string")
    throw new AppError("INVALID_REQUEST", {
      detail: "No `user` is named.",
      errors: [{ pointer: "/user", detail: "the user's id, a string" }],
      hint: 'Write `maitred.for({ user: "ada" })`, with the id under which your server knows them.',
    });
  return { ...knownOptions<Named>(named as Named, OF_A_USER), user: named.user };
}

function opened(
  { parts, ...application }: Composed,
  { logger, clock, metrics }: Pick<ServerParts, "logger" | "clock" | "metrics">,
): Maitred {
  let closed = false;
  const asked = () => {
    if (closed)
      throw new AppError("SHUTTING_DOWN", {
        detail: "This Maitred is closed.",
        hint: "Open another with createMaitred, take the user's handle from that, and close it when the program ends.",
      });
  };
  const maitred: Maitred = {
    ...application,
    close: (options) => {
      closed = true;
      return application.close(options);
    },
    chat: checkedChat(application.chat),
    metrics: async () => {
      if (metrics === null) throw new AppError("INVALID_CONFIG", { detail: "Nothing is counted.", hint: "Open it with `metrics: true`." });
      return metrics.text();
    },
    on: (pattern, listener) => application.events.on(pattern, listener),
    owner: (user, tenant = DEFAULT_TENANT) => application.identities.resolve(ownerOf(tenant, user)),
    for: (given) => {
      const { user, tenant = DEFAULT_TENANT, timeZone } = namedUser(given);
      if (timeZone !== undefined && !isTimeZone(timeZone))
        throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/timeZone", detail: "not an IANA time zone" }] });
      asked();
      return new MaitredUser(
        application,
        { owner: ownerOf(tenant, user), timeZone },
        { clock, asked, adapters: { log: parts.log, logger } },
      );
    },
  };
  const { config, limiter, operator, log } = parts;
  const server: ServerParts = { config, logger, clock, metrics, limiter, operator, log, asked };
  return Object.defineProperty(maitred, SERVER_PARTS, { value: server });
}
