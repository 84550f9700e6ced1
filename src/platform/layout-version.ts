import { AppError } from "./errors.js";

/**
 * That what is stored can be read by this version. `what`: what it is, with its verb ("What Redis holds is"). `elsewhere`: what else can be
 * done than to start a newer Maitred. @throws STORAGE_UNAVAILABLE with both versions
 */
export function assertKnownLayout(what: string, found: unknown, known: number, elsewhere?: string): void {
  if (Number(found) <= known) return;
  const newer = "Start a Maitred that is at least as new as the one that wrote it";
  throw new AppError("STORAGE_UNAVAILABLE", {
    detail: `${what} of version ${String(found)}; this Maitred knows ${known}.`,
    hint: elsewhere === undefined ? `${newer}.` : `${newer}, or ${elsewhere}.`,
  });
}
