/** Log lines of the data plane: a fixed sentence, then name=value pairs. */

function logError(text: string, detail: string): void {
  ngx.log(ngx.ERR, text, " ", detail);
}

function logWarning(text: string, detail: string): void {
  ngx.log(ngx.WARN, text, " ", detail);
}

export { logError, logWarning };
