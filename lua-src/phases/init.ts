/** init_by_lua: reads the settings; the imports load every hook's module once, before the workers are forked. */
import { loadSettings } from "../configuration/settings";
import "../configuration/server";
import "./balancer";
import "./certificate";
import "./client-hello";
import "./error-page";
import "./header-filter";
import "./init-worker";
import "./log";
import "./rewrite";
import "./server-rewrite";
import "./server-snippet";
import "./snippet-entry";

/** The text is the JSON that nginx.conf carries. */
function run(text: string): void {
  loadSettings(text);
}

export { run };
