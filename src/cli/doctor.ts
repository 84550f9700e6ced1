import type { Config } from "../compose/config.js";
import { DEFAULT_TENANT } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import { tooOldNode } from "../platform/node-version.js";
import type { PartStatus, Readiness } from "../ports/resources.js";
import type { JournalCheck } from "../ports/session-store.js";
import type { Backend } from "./backend.js";
import { EXIT, type ExitCode, errorLines } from "./errors.js";
import { configuredUrl, type InUseParts } from "./in-use.js";
import type { DatabaseCheck, Maintenance } from "./maintenance.js";
import { printable, type Terminal } from "./terminal.js";

export interface Finding {
  readonly check: string;
  /** `warn`: works, but look at it. `fail`: something does not work. */
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** What to do; null where nothing is to be done. */
  readonly advice: string | null;
}

export interface DoctorParts extends InUseParts {
  readonly nodeVersion: string;
  readonly readConfig: () => Config;
  /** The version of the SQLite library. Throws where it can't be loaded. */
  readonly sqliteVersion: () => Promise<string>;
  /** The application over the storage directory. */
  readonly open: (config: Config) => Promise<{ readonly backend: Backend; readonly maintenance: Maintenance }>;
}

/** Shows what was found; ends with `attention` when something does not work, or, where it is to be `strict`, wants a look. */
export async function report(terminal: Terminal, found: AsyncIterable<Finding>, strict: boolean): Promise<ExitCode> {
  const findings: Finding[] = [];
  const { green, yellow, red } = terminal.colours;
  for await (const finding of found) {
    findings.push(finding);
    const mark = { ok: green("✓"), warn: yellow("!"), fail: red("✗") }[finding.status];
    terminal.line(`${mark} ${finding.check}: ${printable(finding.detail)}`);
    if (finding.advice !== null) terminal.line(`    ${printable(finding.advice)}`);
  }
  const worst = (["fail", "warn"] as const).find((status) => findings.some((finding) => finding.status === status)) ?? "ok";
  terminal.result({ status: worst, findings });
  return worst === "fail" || (strict && worst === "warn") ? EXIT.attention : EXIT.ok;
}

/**
 * Looks at everything, also after something was found. Opening the stores finishes what a crash left behind, as a server's start does;
 * beyond that nothing is changed.
 */
export async function* storageFindings(parts: DoctorParts): AsyncGenerator<Finding> {
  yield nodeFinding(parts.nodeVersion);
  yield await attempt("SQLite", async () => ok("SQLite", await parts.sqliteVersion()));
  let config: Config;
  try {
    config = parts.readConfig();
  } catch (error) {
    yield failure("Configuration", error);
    return;
  }
  yield ok("Configuration", `model ${config.LLM_PROVIDER}, memory ${config.MEM0_ENABLED ? config.MEM0_PROVIDER : "off"}`);
  let opened: Awaited<ReturnType<DoctorParts["open"]>>;
  try {
    opened = await parts.open(config);
  } catch (error) {
    yield await openFailure(error, config, parts);
    return;
  }
  try {
    yield ok("Storage", config.MEMORY_STORAGE_DIR);
    yield await attempt("Encryption", () => encryptionFinding(config, opened.maintenance));
    yield* storeFindings(opened.maintenance);
    // Last: what was just opened may still be catching up.
    yield* readinessFindings(opened.backend);
  } finally {
    await opened.backend.close();
  }
}

/** By what the store says of itself; the configuration tells where its master key is. */
async function encryptionFinding({ ENCRYPTION_KMS_KEY: kms, ENCRYPTION_KEY_FILE: file }: Config, { encryptedUnder }: Maintenance) {
  const id = await encryptedUnder();
  if (id === null) return ok("Encryption", "off: what is kept is in clear");
  const master = kms === undefined ? file && `the master key in ${file}` : `the key ${kms} of AWS KMS`;
  return ok("Encryption", `on (key id ${id})${master === undefined ? "" : `, under ${master}`}`);
}

async function* storeFindings(maintenance: Maintenance): AsyncGenerator<Finding> {
  yield* damageFindings("Journals", maintenance.journals(), journalDamage);
  yield* damageFindings("Databases", maintenance.databases(), databaseDamage);
  yield await attempt("Write-back", async () => {
    const { pending, failed } = await maintenance.pendingWriteBacks();
    if (failed === 0) return ok("Write-back", pending === 0 ? "nothing is pending" : `${pending} turns are pending`);
    const named = await givenUp(maintenance);
    const advice =
      "Their messages are not read. Mend what the codes name, then `maitred promote --all-users` reads them, with --url while a server " +
      "runs; of one session POST /v1/sessions/{id}/write-back/retry does.";
    return { check: "Write-back", status: "warn", detail: `${failed} turns failed, ${pending} are pending${named}`, advice };
  });
  yield await attempt("Erasures", async () => {
    const open = await maintenance.openErasures();
    if (open === 0) return ok("Erasures", "none is open");
    const advice = "A store was out of reach. Mend it and start the server: it finishes them.";
    return { check: "Erasures", status: "fail", detail: `${open} could not be finished`, advice };
  });
}

const MAX_NAMED = 10;

/** Whose turns failed, and where: of the first sessions. */
async function givenUp(maintenance: Maintenance): Promise<string> {
  const named: string[] = [];
  for await (const { tenant, user, sessionId, turns, code } of maintenance.givenUpTurns()) {
    if (named.length === MAX_NAMED) {
      named.push("and others");
      break;
    }
    const whose = tenant === DEFAULT_TENANT ? `user ${user}` : `user ${user} of tenant ${tenant}`;
    named.push(`${whose}, session ${sessionId}: ${turns}${code === null ? "" : ` (${code})`}`);
  }
  return named.map((each) => `\n    ${each}`).join("");
}

/** Each that is damaged, or that none is. */
async function* damageFindings<T>(check: string, all: AsyncIterable<T>, damageOf: (each: T) => Finding | null): AsyncGenerator<Finding> {
  let looked = 0;
  let isIntact = true;
  try {
    for await (const each of all) {
      looked += 1;
      const finding = damageOf(each);
      if (finding === null) continue;
      isIntact = false;
      yield finding;
    }
    if (isIntact) yield ok(check, `${looked}, all intact`);
  } catch (error) {
    yield failure(check, error);
  }
}

function journalDamage({ sessionId, path, damagedLines, tornBytes }: JournalCheck): Finding | null {
  if (damagedLines.length === 0 && tornBytes === 0) return null;
  const what = [
    ...(damagedLines.length > 0 ? [`${damagedLines.length} damaged lines (${damagedLines.slice(0, 10).join(", ")})`] : []),
    ...(tornBytes > 0 ? [`${tornBytes} bytes of a record that was never finished`] : []),
  ];
  const advice = "The rest of the session reads. Restore the file from a backup, if there is one, while the server is stopped.";
  const status = damagedLines.length > 0 ? "fail" : "warn";
  return { check: "Journal", status, detail: `${path ?? sessionId}: ${what.join(", ")}`, advice };
}

function databaseDamage({ path, damaged }: DatabaseCheck): Finding | null {
  if (!damaged) return null;
  const advice = path.endsWith("vectors.db")
    ? "Stop the server and move the file away: the next start makes it anew. What lies on its sound pages still reads."
    : "Stop the server and `maitred restore` a whole backup into an empty directory. What lies on its sound pages still reads.";
  return { check: "Database", status: "fail", detail: `${path}: damaged`, advice };
}

const PARTS: Readonly<Record<PartStatus, Finding["status"]>> = { ok: "ok", disabled: "ok", degraded: "warn", down: "fail" };

/** What can be told of a server from outside. */
export async function* readinessFindings(backend: Backend): AsyncGenerator<Finding> {
  let readiness: Readiness;
  try {
    readiness = await backend.readiness();
  } catch (error) {
    yield failure("Parts", error);
    return;
  }
  for (const [name, { status, detail }] of Object.entries(readiness.parts)) {
    yield {
      check: name,
      status: PARTS[status],
      detail: detail === undefined ? status : `${status}: ${detail}`,
      advice: status === "down" ? "Check that it runs and that its address and key are right. Chats go on without it." : null,
    };
  }
}

function nodeFinding(version: string): Finding {
  if (tooOldNode(version) === null) return ok("Node.js", version);
  return { check: "Node.js", status: "fail", detail: version, advice: "Install Node.js 20.19 or newer." };
}

async function openFailure(error: unknown, config: Config, { serverOf }: InUseParts): Promise<Finding> {
  if (isAppError(error, "INVALID_CONFIG") && error.errors.some(({ pointer }) => pointer === "/ENCRYPTION_KEY_FILE")) {
    const found = failure("Encryption", error);
    const isKeyless = config.ENCRYPTION_KEY_FILE === undefined && config.ENCRYPTION_KMS_KEY === undefined;
    return isKeyless ? { ...found, detail: `on, and no key is set: ${found.detail}` } : found;
  }
  if (!isAppError(error, "STORAGE_IN_USE")) return failure("Storage", error);
  const url = (await serverOf(config)) ?? configuredUrl(config);
  const advice = `While a server runs, \`maitred doctor --url ${url}\` asks it; stop it for the rest of the checks.`;
  return { check: "Storage", status: "warn", detail: error.message, advice };
}

export function ok(check: string, detail: string): Finding {
  return { check, status: "ok", detail, advice: null };
}

export function failure(check: string, error: unknown): Finding {
  const [detail = "failed", ...rest] = errorLines(error);
  return { check, status: "fail", detail, advice: rest.length === 0 ? null : rest.join(" ") };
}

async function attempt(check: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return failure(check, error);
  }
}
