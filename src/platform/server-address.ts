import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { lockHolder } from "./directory-lock.js";
import { onStorage } from "./storage-errors.js";

/** The file in a storage directory that says where the server listens that has it. */
const ADDRESS_FILE = "maitred.address";

const addressSchema = z.object({ pid: z.number(), host: z.string(), url: z.string() });

/** To be called by the process that has the directory's lock. @throws STORAGE_UNAVAILABLE */
export async function announceAddress(dir: string, url: string): Promise<void> {
  const said: z.infer<typeof addressSchema> = { pid: process.pid, host: hostname(), url: reachable(url) };
  await onStorage(() => writeFile(join(dir, ADDRESS_FILE), `${JSON.stringify(said)}\n`, { mode: 0o600 }));
}

/** Null where the directory is held by a process that is no server. What a server of before has left behind does not count. */
export async function announcedAddress(dir: string): Promise<string | null> {
  const text = await readFile(join(dir, ADDRESS_FILE), "utf8").catch(() => "null");
  const said = addressSchema.safeParse(parsed(text)).data;
  const holder = lockHolder(dir);
  return said !== undefined && said.pid === holder?.pid && said.host === holder.host ? said.url : null;
}

/** An address that a server on the same machine answers at: one that listens on all of them names none. */
export function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
