export { MiniLm } from "./minilm.js";
export { WordTable } from "./word-table.js";
