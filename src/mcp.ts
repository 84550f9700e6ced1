export { type McpConnection, type McpOptions, type McpUser, mcpServer } from "./mcp/mcp.js";
