import { rename, rm, stat } from "node:fs/promises";

function aside(path: string): string {
  return `${path}.damaged`;
}

export async function setAside(path: string): Promise<void> {
  await rename(path, aside(path));
  for (const suffix of ["-wal", "-shm"]) await rm(`${path}${suffix}`, { force: true });
}

export async function removeDamaged(path: string): Promise<void> {
  if (path !== ":memory:") await rm(aside(path), { force: true });
}

export async function hasDamaged(path: string): Promise<boolean> {
  return stat(aside(path)).then(
    () => true,
    () => false,
  );
}
