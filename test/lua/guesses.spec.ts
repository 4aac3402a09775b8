import { mostWaiting, noteWrongGuess, waitForTurn } from "../../lua-src/access/guesses";
import { describe, expectEqual, it } from "./spec";

describe("guesses", () => {
  it("follow each other at once after quick ones", () => {
    noteWrongGuess(ngx.now());
    expectEqual(waitForTurn(), true);
  });

  it("wait for the pause after a slow one, all of them, but no more than so many", () => {
    ngx.update_time();
    // as if the guess had taken 50 ms
    noteWrongGuess(ngx.now() - 0.05);
    const woken: true[] = [];
    const threads: object[] = [];
    const wait = () => {
      expectEqual(waitForTurn(), true);
      woken[woken.length] = true;
    };
    for (const _ of $range(1, mostWaiting)) {
      threads[threads.length] = ngx.thread.spawn(wait);
    }
    expectEqual([woken.length, waitForTurn()], [0, false]);
    for (const thread of threads) {
      const [ok, problem] = ngx.thread.wait(thread);
      expectEqual([ok, problem], [true, undefined]);
    }
    expectEqual(woken.length, mostWaiting);
    expectEqual(waitForTurn(), true);
  });
});
