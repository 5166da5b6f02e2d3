/** Both schemes. Text keeps a contrast of at least 4.5 to 1 on every ground it stands on. */
export const colours = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f6;
  --panel: #ffffff;
  --sunk: #f0f2f4;
  --line: #d8dce1;
  --edge: #7f8893;
  --ink: #171b20;
  --soft: #525b66;
  --accent: #0b5f67;
  --on-accent: #ffffff;
  --live: #0a6b3d;
  --live-ground: #dff3e8;
  --good: #1d5f94;
  --good-ground: #e3eff9;
  --wait: #80500a;
  --wait-ground: #fbefd9;
  --bad: #a62420;
  --bad-ground: #fce5e3;
  --quiet-ground: #e9ecef;
  --bar-live: #18a063;
  --bar-good: #3d87c4;
  --bar-wait: #d99a2b;
  --bar-bad: #d8534d;
  --bar-quiet: #c3c9d0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101317;
    --panel: #181c21;
    --sunk: #12161a;
    --line: #2c333b;
    --edge: #7b8794;
    --ink: #e8ebee;
    --soft: #a3adb8;
    --accent: #6cc9cf;
    --on-accent: #06282b;
    --live: #6fdca4;
    --live-ground: #123524;
    --good: #8cc4f2;
    --good-ground: #142c40;
    --wait: #efbf6a;
    --wait-ground: #38290f;
    --bad: #ff9d96;
    --bad-ground: #431b1a;
    --quiet-ground: #272d34;
    --bar-live: #2fb377;
    --bar-good: #4a90c9;
    --bar-wait: #c98d2b;
    --bar-bad: #cf5852;
    --bar-quiet: #434c56;
  }
}`;
