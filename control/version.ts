/** Version of this build; package.json and this line are compared by a test. */
export const version = "0.1.0";
