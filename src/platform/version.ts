import { readFileSync } from "node:fs";
import { z } from "zod";

/** The package's version; package.json lies beside sources and built files alike. */
export const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))).version;
