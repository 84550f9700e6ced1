import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { VARIABLES } from "../../src/compose/config.js";
import { PrometheusMetrics } from "../../src/telemetry/prometheus-metrics.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** What a server tells, by name. */
async function families(): Promise<readonly string[]> {
  const text = await new PrometheusMetrics({ process: true }).text();
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}

const namesIn = (text: string) => new Set([...text.matchAll(/\b(?:maitred|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name));

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(read("deploy/grafana-dashboard.json")) as { readonly panels: readonly Panel[]; readonly templating: object };
const alerts = parse(read("deploy/prometheus-alerts.yaml")) as {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);

test("every metric that the dashboard and the alerts name is one that a server tells", async () => {
  const known = await families();
  const queries = [...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)), ...rules.map(({ expr }) => expr)];
  const named = [...namesIn([...queries, JSON.stringify(dashboard.templating)].join("\n"))];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

test("the dashboard shows every metric of Maitred's own, each panel once and within the page", async () => {
  const shown = namesIn(JSON.stringify(dashboard.panels));
  const own = (await families()).filter((name) => /^maitred_.*(?<!_bucket|_sum|_count)$/.test(name));
  // How long a write-back takes is in the traces.
  expect(own.filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`))).toEqual(["maitred_write_back_duration_seconds"]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

test("the page of operations tells of every metric of Maitred's own and of every alert, and what it points to is there", async () => {
  const page = read("docs/operations.md");
  const told = namesIn(page);
  const own = (await families()).filter((name) => /^maitred_.*(?<!_bucket|_sum|_count)$/.test(name));
  expect(own.filter((name) => !told.has(name))).toEqual([]);
  const known = await families();
  expect([...told].filter((name) => name.startsWith("maitred_") && !known.includes(name))).toEqual([]);
  expect(rules.filter(({ alert }) => !page.includes(`| ${alert} |`)).map(({ alert }) => alert)).toEqual([]);
  const links = [...page.matchAll(/\]\(((?!https?:)[^)#]+)/g)].map(([, path = ""]) => path);
  expect(links.filter((path) => !existsSync(join(ROOT, dirname("docs/operations.md"), path)))).toEqual([]);
});

test("the systemd unit names variables of Maitred's, leaves it time to stop, and doesn't run it as root", () => {
  const unit = read("deploy/maitred.service");
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
  const variables = (value("Environment") ?? "").split(" ").map((pair) => pair.split("=")[0] ?? "");
  expect(variables.filter((name) => name !== "NODE_ENV" && !(name in VARIABLES))).toEqual([]);
  const server = [...read("src/server-process.ts").matchAll(/^const (?:GRACE|DRAIN)_MS = ([\d_]+);$/gm)];
  const flush = /^const FLUSH_MS = ([\d_]+);$/m.exec(read("src/telemetry/otlp-traces.ts"));
  const takesMs = [...server, flush].reduce((sum, found) => sum + Number(found?.[1]?.replaceAll("_", "")), 0);
  expect(takesMs).toBe(28_000);
  expect(Number(value("TimeoutStopSec")) * 1_000).toBeGreaterThan(takesMs);
  expect([value("DynamicUser"), value("KillSignal"), value("RestartPreventExitStatus")]).toEqual(["yes", "SIGTERM", "78"]);
  expect(value("ExecStart")).toBe(`/usr/bin/node ${/^CMD \["node", "(.+)"\]$/m.exec(read("deploy/Dockerfile"))?.[1]}`);
});

test("the image is built in one stage and run in another, not as root, and looks after its health", () => {
  const stages = read("deploy/Dockerfile")
    .split(/^FROM /m)
    .slice(1);
  expect(stages.map((stage) => stage.split("\n")[0])).toEqual(["node:24-bookworm AS build", "node:24-bookworm-slim"]);
  const last = stages.at(-1) ?? "";
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK [\s\S]*\/readyz/m);
  expect(last).not.toMatch(/npm install|COPY src/);
  // Its Node reads TypeScript without esbuild. Whatever store or collector a variable of the image names, its client is there.
  const clients = /'\s+\\\s+(pg [^)]+)\)$/m.exec(stages[0] ?? "")?.[1]?.split(/[\s\\]+/) ?? [];
  const { devDependencies, peerDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  const optional = Object.keys(peerDependencies ?? {}).filter((name) => devDependencies?.[name] !== undefined);
  expect(clients.sort()).toEqual(optional.filter((name) => !/^(vitest|esbuild)$|^@ai-sdk\//.test(name)).sort());
});
