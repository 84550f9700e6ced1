import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { silentLogger } from "../../src/platform/logger.js";

/** The process whose start is measured: opens the directory that it is given, and tells what that took. */
const config = parseConfig({ MEMORY_STORAGE_DIR: process.argv[2] ?? "", EMBEDDING_PROVIDER: "hashing" });
const cpu = process.cpuUsage();
const at = performance.now();
const maitred = await compose(config, { logger: silentLogger });
const ms = performance.now() - at;
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(JSON.stringify({ ms, cpuMs: (user + system) / 1_000, megabytes: process.memoryUsage.rss() / 1e6 }));
await maitred.close({ drainMs: 0 });
