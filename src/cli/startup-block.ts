import type { ApplicationInfo } from "../ports/application.js";

interface StartupOptions {
  /** The product, where a file has it. */
  readonly domain?: { readonly name: string; readonly file: string } | undefined;
  /** Whether there is one. Default: no. */
  readonly studio?: boolean;
}

/** What `npm start` prints: where it listens, what it runs on, and, in plain words, what is a stand-in and how to replace it. */
export function startupBlock(info: ApplicationInfo, url: string, { domain, studio = false }: StartupOptions = {}): string {
  const rows: readonly (readonly [name: string, value: string])[] = [
    ["Open", url],
    ...(studio ? [["Studio", new URL("/studio", url).href] as const] : []),
    ...(domain ? [["Domain", `${domain.name} (${domain.file})`] as const] : []),
    ["Model", info.model.standIn ? `${info.model.name}: a rule-based stand-in, no language model` : info.model.name],
    ["Memory", info.longTerm.enabled ? `Mem0 on ${info.longTerm.location}` : "off (MEM0_ENABLED=false): short-term memory alone"],
    ["History", info.history.backend],
    ["Embedder", embedderLine(info.embedder)],
    ["Data", info.shortTerm === "memory" ? "nothing is kept (SHORT_TERM_BACKEND=memory)" : info.storageDir],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
  const hint = info.model.standIn
    ? ["", "  Set OPENAI_API_KEY, or OPENAI_BASE_URL for Ollama and others, in .env.local to connect a real model."]
    : [];
  return ["", `  Maitred ${info.version}`, ...lines, ...hint, ""].join("\n");
}

function embedderLine({ id, lexical, dimension, remote, problem, afterReindex }: ApplicationInfo["embedder"]): string {
  if (afterReindex !== undefined)
    return `${id}: compares words, not meanings; the data was made with it. \`maitred reindex\` goes over to ${afterReindex}`;
  if (lexical) return `${id}: a stand-in that compares words, not meanings`;
  const what = `${id}: ${dimension} numbers, ${remote ? "remote" : "local"}`;
  return problem === null ? what : `${what}; it fails. ${problem} Until then memories and history are found by words alone.`;
}
