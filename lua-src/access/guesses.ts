/**
 * A slow password scheme holds up the whole worker for each guess. So after a wrong one the next guess, whoever makes it,
 * waits three times as long as that one took: guessing gets a quarter of the worker, everybody else the rest. Verdicts
 * that are remembered do not come here, so those who are logged in notice nothing.
 */

const share = 3;
/** Seconds; quicker schemes harm nobody. */
const slow = 0.002;
const mostWaiting = 100;
const state = { until: 0, waiting: 0 };

/** Returns when it is time for a guess; false: too many wait for that already. */
function waitForTurn(): boolean {
  if (ngx.now() >= state.until) {
    return true;
  }
  if (state.waiting >= mostWaiting) {
    return false;
  }
  state.waiting += 1;
  // somebody who woke before may have moved it
  while (ngx.now() < state.until) {
    ngx.sleep(math.max(0.001, state.until - ngx.now()));
  }
  state.waiting -= 1;
  return true;
}

/** `started` is ngx.now() from before the guess. */
function noteWrongGuess(started: number): void {
  ngx.update_time();
  const took = ngx.now() - started;
  if (took >= slow) {
    state.until = ngx.now() + took * share;
  }
}

export { mostWaiting, noteWrongGuess, waitForTurn };
