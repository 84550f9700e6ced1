import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import { ownerOf } from "../../src/domain/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openAwsKms } from "../../src/state/encryption/aws-kms.js";
import { CANARY, filesWith, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";
import { type KmsServer, openKmsServer } from "../support/kms-server.js";
import { needing } from "../support/needing.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");

needing("clouds")("a master key of AWS KMS", () => {
  let base = "";
  let kms: KmsServer;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), "maitred-kms-"));
    kms = await openKmsServer(["one", "two"]);
    for (const [name, value] of Object.entries(kms.env)) vi.stubEnv(name, value);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(base, { recursive: true, force: true });
  });

  const configOf = (env: Record<string, string>) =>
    parseConfig(byWords({ MEMORY_STORAGE_DIR: join(base, "storage"), RECALL_DEADLINE_MS: "5000", STARTUP_WAIT_MS: "0", ...env }));
  const start = async (env: Record<string, string>): Promise<Composed> => {
    const application = await compose(configOf(env));
    onTestFinished(() => application.close({ drainMs: 0 }).catch(() => undefined));
    return application;
  };
  const opened = (key: string) => openAwsKms({ key, logger: silentLogger, startupWaitMs: 0 });
  const textsOf = async (application: Composed) => JSON.stringify((await application.memories.list(alice, {})).data);
  const options = { signal: new AbortController().signal, onProgress: () => {} };

  test("[sealed-at-rest] what is kept reads again by the key alone, is asked for once an owner, and names nobody to KMS", async () => {
    const first = await start({ ENCRYPTION_KMS_KEY: "alias/maitred" });
    await tell(first, alice, `I prefer ${CANARY}.`);
    await first.close({ drainMs: 5_000 });
    expect(await filesWith(join(base, "storage"), CANARY)).toEqual([]);
    const before = kms.asked.length;
    const again = await start({ ENCRYPTION_KMS_KEY: kms.arn("one") });
    expect(await textsOf(again)).toContain(CANARY);
    const ofAlice = kms.asked.length;
    await again.memories.list(alice, {});
    expect(kms.asked.length).toBe(ofAlice);
    expect(ofAlice).toBeGreaterThan(before);
    expect(JSON.stringify(kms.asked)).not.toContain("alice");
    await again.close({ drainMs: 0 });
    await expect(start({})).rejects.toThrow(/nor ENCRYPTION_KMS_KEY, and SQLite .* is encrypted/);
  });

  test("keys move from a file's to KMS', and to another key of it, without a value written", async () => {
    const file = join(base, "master.key");
    await writeFile(file, MASTER_KEY);
    const clear = await start({ ENCRYPTION_KEY_FILE: file });
    await tell(clear, alice, `I prefer ${CANARY}.`);
    await clear.close({ drainMs: 5_000 });
    const both = { ENCRYPTION_KEY_FILE: file, ENCRYPTION_KMS_KEY: kms.arn("one") };
    expect(await encryptionOf(configOf(both)).rotate(options)).toBeGreaterThan(0);
    expect(await encryptionOf(configOf({ ENCRYPTION_KMS_KEY: kms.arn("two") })).rotate(options)).toBeGreaterThan(0);
    const moved = await start({ ENCRYPTION_KMS_KEY: kms.arn("two") });
    expect(await textsOf(moved)).toContain(CANARY);
  });

  test("a wrapped key holds in its own place alone", async () => {
    const vault = await opened(kms.arn("one"));
    const wrapped = await vault.wrap(Buffer.alloc(32, 7), "data key 1 of a");
    const { keyId } = vault;
    expect(Buffer.from(await vault.unwrap(wrapped, { keyId, context: "data key 1 of a" }))).toEqual(Buffer.alloc(32, 7));
    for (const [context, by] of [
      ["data key 1 of b", keyId],
      ["data key 1 of a", kms.arn("two")],
    ] as const)
      await expect(vault.unwrap(wrapped, { keyId: by, context })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });

  test.each([
    ["AccessDeniedException", "kms:Decrypt"],
    ["DisabledException", "Enable the key"],
    ["UnrecognizedClientException", "valid credentials"],
  ])("a start that KMS refuses by %s says what to do", async (name, hint) => {
    kms.fail({ name, status: 400 });
    await expect(opened(kms.arn("one"))).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE", hint: expect.stringContaining(hint) });
    kms.fail(null);
    await expect(opened(kms.arn("nine"))).rejects.toMatchObject({ hint: expect.stringContaining("Name a key") });
  });

  test("while KMS gives no answer, whoever is known is answered, anybody else is told to come back, and nothing is lost", async () => {
    const application = await start({ ENCRYPTION_KMS_KEY: kms.arn("one") });
    await tell(application, alice, "I prefer the aisle.");
    kms.fail({ name: "KMSInternalException", status: 500 });
    expect(await textsOf(application)).toContain("aisle");
    await expect(tell(application, bob, "I prefer the window.")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE", status: 503 });
    kms.fail(null);
    await tell(application, bob, "I prefer the window.");
    expect(JSON.stringify((await application.memories.list(bob, {})).data)).toContain("window");
  });

  test("a start waits for a KMS that gives no answer yet", async () => {
    kms.fail("cut");
    setTimeout(() => kms.fail(null), 500);
    expect((await openAwsKms({ key: "alias/maitred", logger: silentLogger, startupWaitMs: 60_000 })).keyId).toBe(kms.arn("one"));
  });
});
