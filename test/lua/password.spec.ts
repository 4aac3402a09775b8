import { parseParameters, responseOf } from "../../lua-src/access/digest";
import { sameText, verifyPassword } from "../../lua-src/access/password";
import { parseUsers } from "../../lua-src/access/users";
import { describe, expectEqual, it } from "./spec";

// all hashes come from openssl passwd, crypt(3) and Python's hashlib
const password = "s3cret pass:word";

describe("password", () => {
  it("knows the schemes that nginx computes itself", () => {
    for (const hash of [
      "$apr1$saltsalt$mZO9oM0/HiW9iP9puUvVt0",
      "{PLAIN}s3cret pass:word",
      "{SHA}7Z3k/peEzpm07f6PmOj7xaz+K5I=",
      "{SSHA}7S2T1mAHyOLFfvV+/ElITdqzhtZzYWx0AP8=",
    ]) {
      expectEqual([hash, verifyPassword(password, hash)], [hash, true]);
      expectEqual([hash, verifyPassword("s3cret pass:wore", hash)], [hash, false]);
      expectEqual([hash, verifyPassword("", hash)], [hash, false]);
    }
  });

  it("knows what libcrypt knows: MD5, SHA-256, SHA-512, bcrypt, yescrypt, DES", () => {
    for (const hash of [
      "$1$saltsalt$zZe/48JvON6xgkLgsWGq51",
      "$5$rounds=1000$saltstring$mYqs/HbuqOXCyMsJ02SUt2KLqIt.eqz4eEtxPYX/kuA",
      "$6$saltstring$PAnzLIeLs6T6GmaHEHkENk/KfFA57pX6QgX0K25T/U033KtcGPG/m2bPEi2FsQbAGKqsrum.HtT5uQu7rGhg10",
      "$2y$05$abcdefghijklmnopqrstuuWqE.ZbojV4lW1JhHwMXr3EQklLDUc6y",
      "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$DemRsLHYq/0ZXRRf3LdXWHqIUC6JEQDQZmAvc/umWN4",
      "abTk71qDTQKMY",
    ]) {
      expectEqual([hash, verifyPassword(password, hash)], [hash, true]);
      expectEqual([hash, verifyPassword("other", hash)], [hash, false]);
    }
  });

  it("computes apr1 of long passwords and of none", () => {
    expectEqual(verifyPassword("a-password-that-is-longer-than-sixteen-bytes-and-more", "$apr1$abcdefgh$sS9T986b4h/ZH7uCcI/nx/"), true);
    expectEqual(verifyPassword("", "$apr1$x$tMwYqBfQwi3FYAr0aJc8M/"), true);
    expectEqual(verifyPassword("x", "$apr1$x$tMwYqBfQwi3FYAr0aJc8M/"), false);
  });

  it("lets nobody in by a hash that is none", () => {
    for (const hash of [
      "",
      "*",
      "*0",
      "*1",
      "!",
      "x",
      "secret",
      "$9$unknown$x",
      "$6$",
      "{MD5}x",
      "{SHA}",
      "{SSHA}",
      "{SSHA}AAAA",
      "$apr1$",
      "$apr1$x",
      "$apr1$x$",
    ]) {
      for (const tried of ["", hash, "secret"]) {
        expectEqual([hash, tried, verifyPassword(tried, hash)], [hash, tried, false]);
      }
    }
  });

  it("does not cut a password at a NUL byte", () => {
    expectEqual(verifyPassword(`${password}\0more`, "$1$saltsalt$zZe/48JvON6xgkLgsWGq51"), false);
    expectEqual(verifyPassword(`${password}\0more`, "{PLAIN}s3cret pass:word"), false);
  });

  it("gives the same answer when asked again", () => {
    const hash = "$1$saltsalt$zZe/48JvON6xgkLgsWGq51";
    for (const _ of $range(1, 3)) {
      expectEqual(verifyPassword(password, hash), true);
      expectEqual(verifyPassword("wrong", hash), false);
    }
  });

  it("compares whole texts", () => {
    expectEqual(
      [sameText("", ""), sameText("abc", "abc"), sameText("abc", "abd"), sameText("abc", "ab"), sameText("ab", "ba")],
      [true, true, false, false, false],
    );
  });
});

describe("user lines", () => {
  it("takes the first line of a user, leaves comments and carriage returns out", () => {
    const users = parseUsers("# staff\n#alice:x\nalice:first:comment\r\nalice:second\n\nbob:\nno colon\n:nobody\n");
    expectEqual(users.hashes, { alice: "first", bob: "" });
  });

  it("reads digest lines by user and realm", () => {
    const users = parseUsers("alice:Staff only:ABCDEF\nalice:other:123\n");
    expectEqual(
      [users.digests.get("alice:Staff only"), users.digests.get("alice:other"), users.digests.get("alice:")],
      ["abcdef", "123", undefined],
    );
  });
});

describe("digest", () => {
  it("reads quoted and bare parameters wherever they stand, and no parameters inside quoted ones", () => {
    const parameters = parseParameters('username="a\\"b\\\\", uri="/x?nc=1, realm=\\"y\\"",nc=00000001 , Qop = auth');
    expectEqual(parameters, { username: 'a"b\\', uri: '/x?nc=1, realm="y"', nc: "00000001", qop: "auth" });
  });

  it("refuses parameters given twice, unfinished or followed by something else", () => {
    for (const text of ["nc=1, nc=2", 'nc="1', "nc=", "nc", 'nc="1\\"', "nc=1; x=2 ?"]) {
      expectEqual([text, parseParameters(text)], [text, undefined]);
    }
  });

  it("computes the response of RFC 2617's example", () => {
    const answer = {
      username: "Mufasa",
      realm: "testrealm@host.com",
      nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093",
      uri: "/dir/index.html",
      qop: "auth",
      nc: "00000001",
      cnonce: "0a4f113b",
      response: "",
    };
    expectEqual(responseOf(answer, "GET", "939e7578ed9e3c518a452acee763bce9"), "6629fae49393a05397450978507c4ef1");
  });
});
