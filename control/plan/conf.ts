/** Settings, flags and profiles → the view that nginx.conf is rendered from. */

import { cpus } from "node:os";
import { dictionaries } from "../../lua-src/wire.ts";
import { type Settings, settingDirectives } from "../catalog/settings.ts";
import { errorPageDirectives } from "../features/custom-errors.ts";
import { pairArgs, redirectPair } from "../features/replacement.ts";
import { conditionArgs } from "../features/retries.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { Argument, ConfPaths, ConfView, Directive, Listen, NginxFeatures, Profile } from "./conf-view.ts";
import { internalLocations } from "./internal.ts";
