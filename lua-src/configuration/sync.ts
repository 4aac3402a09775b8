/**
 * Keeps a worker's decoded entries in step with the shared dictionaries. A request that starts after a batch was
 * acknowledged sees the batch: the counter is read first thing in every request, and only what the log names is dropped.
 */
import { forgetAllUsers, forgetUsers } from "../access/users";
import { forgetAllBackends, forgetBackends } from "../balancer/peers";
import { forgetCountedHosts } from "../metrics/monitor";
import { forgetAllHosts, forgetHosts, forgetResolutions } from "../router/host";
import { forgetAllCertificates, forgetCertificates, forgetServers } from "../tls/certificate";
import { reloadGeneral } from "./general";
import { type ChangeRecord, readChange, readSequence } from "./store";

const data = ngx.shared.get("configuration_data")!;
let seen = 0;

function forgetEverything(): void {
  forgetAllHosts();
  forgetCountedHosts(undefined);
  forgetAllBackends();
  forgetAllCertificates();
  forgetAllUsers();
  reloadGeneral();
}

function forgetTouched({ touched, all, general }: ChangeRecord): void {
  if (all.hosts === true) {
    forgetAllHosts();
    forgetCountedHosts(undefined);
  } else if (touched.hosts !== undefined) {
    forgetHosts(touched.hosts);
    forgetCountedHosts(touched.hosts);
  }
  if (all.backends === true) {
    forgetAllBackends();
  } else if (touched.backends !== undefined) {
    forgetBackends(touched.backends);
  }
  if (all.certificates === true || all.servers === true) {
    forgetAllCertificates();
  } else {
    forgetCertificates(touched.certificates ?? []);
    forgetServers(touched.servers ?? []);
  }
  if (all.users === true) {
    forgetAllUsers();
  } else {
    forgetUsers(touched.users ?? []);
  }
  if (general === true) {
    reloadGeneral();
    forgetResolutions();
  }
}

function catchUp(current: number): void {
  for (const sequence of $range(seen + 1, current)) {
    const change = seen === 0 ? undefined : readChange(sequence);
    if (change === undefined) {
      forgetEverything();
      seen = readSequence();
      return;
    }
    forgetTouched(change);
    seen = sequence;
  }
}

/** One read of shared memory when nothing has changed. */
function sync(): void {
  const [current] = data.get("seq");
  if (current !== seen && current !== undefined) {
    catchUp(current as number);
  }
}

export { sync };
