import { expect, test } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { COSMOS_EMULATOR_KEY } from "../../src/compose/state-variables.js";
import type { AppError } from "../../src/platform/errors.js";

function saidOf(env: Readonly<Record<string, string>>): string {
  try {
    return `starts on ${parseConfig(env).SHORT_TERM_BACKEND}`;
  } catch (error) {
    return (error as AppError).message;
  }
}

test.each([
  [{ MEMORY_BACKEND: "firestore" }, "MEMORY_BACKEND", "FIRESTORE_PROJECT"],
  [{ SESSION_SERVICE_URI: "postgresql+asyncpg://u@h/d" }, "SESSION_SERVICE_URI", "DATABASE_URL"],
  [{ AZURE_COSMOSDB_ENDPOINT: "https://a.documents.azure.com" }, "AZURE_COSMOSDB_ENDPOINT", "COSMOS_ENDPOINT"],
  [{ COSMOS_CONNECTION_STRING: "AccountEndpoint=x" }, "COSMOS_CONNECTION_STRING", "COSMOS_ENDPOINT"],
  [{ FIRESTORE_PROJECT_ID: "hotel-1" }, "FIRESTORE_PROJECT_ID", "FIRESTORE_PROJECT"],
  [{ MEMORY_SERVICE_URI: "rag://corpus" }, "MEMORY_SERVICE_URI", "MEM0_PROVIDER"],
  [{ ARTIFACT_SERVICE_URI: "gs://bucket" }, "ARTIFACT_SERVICE_URI", "SHORT_TERM_BACKEND"],
  [{ CHROMA_HOST: "127.0.0.1" }, "CHROMA_HOST", "CHROMA_URL"],
  [{ CHROMA_SERVER_HOST: "127.0.0.1" }, "CHROMA_SERVER_HOST", "CHROMA_URL"],
])("a name that others have ends the start with the one that does, and not on local files: %o", (env, theirs, ours) => {
  const said = saidOf(env);
  expect(said).toContain(`${theirs}: `);
  expect(said).toContain(ours);
});

test("where ours is set, others' names are left to others", () => {
  expect(saidOf({ MEMORY_BACKEND: "firestore", SHORT_TERM_BACKEND: "file" })).toBe("starts on file");
  expect(saidOf({ SESSION_SERVICE_URI: "sqlite://", DATABASE_URL: "postgres://h/d" })).toBe("starts on postgres");
  expect(saidOf({ MEMORY_BACKEND: " " })).toBe("starts on file");
});

test("STATE_ENGINE is another name of SHORT_TERM_BACKEND, and where the two contradict each other nothing starts", () => {
  expect(saidOf({ STATE_ENGINE: "firestore", FIRESTORE_PROJECT: "hotel-1" })).toBe("starts on firestore");
  expect(saidOf({ STATE_ENGINE: "file", DATABASE_URL: "postgres://h/d" })).toBe("starts on file");
  expect(saidOf({ STATE_ENGINE: "firestore" })).toContain("FIRESTORE_PROJECT: needed by `firestore`");
  expect(saidOf({ STATE_ENGINE: "memory", SHORT_TERM_BACKEND: "memory" })).toBe("starts on memory");
  expect(saidOf({ STATE_ENGINE: " ", SHORT_TERM_BACKEND: "memory" })).toBe("starts on memory");
  expect(saidOf({ STATE_ENGINE: "memory", SHORT_TERM_BACKEND: " " })).toBe("starts on memory");
  expect(saidOf({ STATE_ENGINE: "redis", SHORT_TERM_BACKEND: "file" })).toBe(
    "STATE_ENGINE: another name of SHORT_TERM_BACKEND, which says otherwise; set one.",
  );
  expect(saidOf({ STATE_ENGINE: "mongo" })).toMatch(/^STATE_ENGINE: .*"firestore"/);
});

test("Chainlit's address works as it is, and in SQLAlchemy's form says what it has to be", () => {
  expect(saidOf({ DATABASE_URL: "postgresql://u@h/d" })).toBe("starts on postgres");
  expect(saidOf({ DATABASE_URL: "postgresql+asyncpg://u@h/d" })).toContain("DATABASE_URL: a postgres:// URL");
});

test("an address says where state is kept", () => {
  expect(saidOf({ FIRESTORE_PROJECT: "hotel-1" })).toBe("starts on firestore");
  expect(saidOf({ COSMOS_ENDPOINT: "https://a.documents.azure.com", COSMOS_KEY: "k" })).toBe("starts on cosmos");
  expect(saidOf({ COSMOS_ENDPOINT: "https://a.documents.azure.com" })).toContain("COSMOS_KEY: needed by `cosmos`");
  expect(saidOf({ SHORT_TERM_BACKEND: "firestore" })).toContain("FIRESTORE_PROJECT: needed by `firestore`");
  expect(parseConfig({ SHORT_TERM_BACKEND: "firestore", GOOGLE_CLOUD_PROJECT: "hotel-1" }).FIRESTORE_PROJECT).toBe("hotel-1");
  expect(saidOf({ GOOGLE_CLOUD_PROJECT: "hotel-1" })).toBe("starts on file");
});

test("an emulator is refused in production", () => {
  const env = { FIRESTORE_PROJECT: "hotel-1", FIRESTORE_EMULATOR_HOST: "127.0.0.1:8080" };
  expect(saidOf(env)).toBe("starts on firestore");
  expect(saidOf({ ...env, NODE_ENV: "production" })).toMatch(/FIRESTORE_EMULATOR_HOST: .*keeps nothing.*NODE_ENV/);
  const cosmos = { COSMOS_ENDPOINT: "https://localhost:8081", COSMOS_KEY: COSMOS_EMULATOR_KEY };
  expect(saidOf({ ...cosmos, NODE_ENV: "production" })).toMatch(/COSMOS_KEY: the emulator's.*NODE_ENV/);
  expect(saidOf({ ...cosmos, NODE_ENV: "production" })).not.toContain(COSMOS_EMULATOR_KEY);
  expect(saidOf({ ...cosmos, NODE_ENV: "production", COSMOS_KEY: "a2V5" })).toBe("starts on cosmos");
});
