import { open } from "node:fs/promises";

/** What was written to a file before is on the disk when this resolves. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
