/** npm run image, after its packages are there. */
import { buildImage, imageObstacle } from "./container-image.ts";

const obstacle = imageObstacle();
if (obstacle === undefined) await buildImage();
else {
  console.error(`  ${obstacle}`);
  process.exitCode = 1;
}
