import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type Config, parseConfig, VARIABLES } from "../../src/compose/config.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly image?: string;
  readonly user?: string;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, unknown>>;
}

const text = read("deploy/compose.yaml");
const { services, volumes, networks } = parse(text, { merge: true }) as Compose;
const dockerfile = read("deploy/Dockerfile");
const caddyfile = read("deploy/Caddyfile");
const passwords = parseEnv(read("deploy/.env.example"));
const settings = parseEnv(read("deploy/maitred.env.example"));
const replicas = Object.entries(services).filter(([, { image }]) => image === "maitred");
/** As Docker gives them to a replica, every password filled in. */
const environment = (): Record<string, string | undefined> => ({
  ...Object.fromEntries(
    [...dockerfile.matchAll(/^(?:ENV|ARG) .+$/gm)].flatMap(([line]) =>
      [...line.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    ),
  ),
  ...settings,
  ...Object.fromEntries(Object.entries(replicas[0]?.[1].environment ?? {}).map(([name, value]) => [name, filledIn(value)])),
});

function started(): Config {
  return parseConfig({ ...environment(), JWT_SECRET: "x".repeat(32) });
}

function filledIn(value: string): string {
  return value.replace(/\$\{(\w+)[^}]*\}/g, (_, name: string) => `secret-of-${name.toLowerCase()}`);
}

test("every variable that a replica is given is one of Maitred's", () => {
  const { NODE_ENV, PACKAGES, ...given } = environment();
  expect({ NODE_ENV, PACKAGES }).toEqual({ NODE_ENV: "production", PACKAGES: '""' });
  expect(Object.keys(given).filter((name) => !(name in VARIABLES))).toEqual([]);
});

test("a replica with its passwords and a secret for tokens starts on PostgreSQL and Qdrant, and lets nobody in unsigned", () => {
  expect(started()).toMatchObject({
    HOST: "0.0.0.0",
    PORT: 3000,
    SHORT_TERM_BACKEND: "postgres",
    MEM0_PROVIDER: "qdrant",
    HISTORY_BACKEND: "qdrant",
    AUTH_MODE: "jwt",
    QDRANT_API_KEY: "secret-of-qdrant_api_key",
    DATABASE_URL: "postgres://maitred:secret-of-postgres_password@postgres:5432/maitred",
  });
});

test("every password that the file asks for stands in .env.example, empty, and no other does", () => {
  const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  expect([...asked].toSorted()).toEqual(Object.keys(passwords).toSorted());
  expect(Object.values(passwords).filter((value) => value !== "")).toEqual([]);
  const ignored = read(".gitignore").split("\n");
  expect(["deploy/.env", "deploy/maitred.env"].filter((path) => !ignored.includes(path))).toEqual([]);
});

test("there are two replicas, alike, and the proxy sends to both of them, at the port that they listen on", () => {
  expect(replicas.map(([, service]) => service)).toEqual([services["maitred-1"], services["maitred-1"]]);
  const upstreams = /reverse_proxy ([^{]+)\{/.exec(caddyfile)?.[1]?.trim().split(/\s+/);
  expect(upstreams).toEqual(replicas.map(([name]) => `${name}:${started().PORT}`));
  expect(caddyfile).toContain("health_uri /readyz");
  expect(dockerfile).toContain("/readyz");
});

test("nothing runs as root, and only the proxy has a port, on this machine alone", () => {
  expect(dockerfile.match(/^USER (\S+)$/m)?.[1]).toBe("node");
  const asRoot = Object.entries(services).filter(([, { image = "", user }]) => {
    const ofImage = image === "maitred" || image.endsWith("-unprivileged");
    return !ofImage && (user === undefined || /^(root|0)\b/.test(user));
  });
  expect(asRoot.map(([name]) => name)).toEqual([]);
  const open = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
  expect(open).toEqual(["proxy 127.0.0.1:8080:8080"]);
});

test("what stores keep is in volumes, and every volume and network that is named is there", () => {
  const named = Object.values(services).flatMap(({ volumes: of = [] }) => of.map((volume) => volume.split(":")[0] ?? ""));
  expect(named.filter((name) => !name.startsWith("./")).toSorted()).toEqual(Object.keys(volumes).toSorted());
  const joined = new Set(Object.values(services).flatMap(({ networks: of = [] }) => of));
  expect([...joined].toSorted()).toEqual(Object.keys(networks).toSorted());
});

test("a stop waits longer than the server takes to finish what is in flight", () => {
  const constants = [...read("src/server-process.ts").matchAll(/^const (?:GRACE|DRAIN)_MS = ([\d_]+);$/gm)];
  const takes = constants.reduce((sum, [, ms = ""]) => sum + Number(ms.replaceAll("_", "")), 0);
  expect(takes).toBe(25_000);
  for (const [, { stop_grace_period }] of replicas) expect(Number.parseInt(stop_grace_period ?? "", 10) * 1_000).toBeGreaterThan(takes);
});

test("the image is made from what .dockerignore lets through", () => {
  const through = read(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) => paths.split(" "));
  expect(copied.toSorted()).toEqual(through.toSorted());
});
