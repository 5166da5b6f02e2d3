/** Sequences that clear the screen, set a title, answer as if typed, turn the direction; as ESC and as one C1 character. */
export const poison = '\u001b[2J\u001b]0;title\u0007\u009b31m\u0085\u007f\u202egpj.exe\u2066\u200f\u2028\r';

// eslint-disable-next-line no-control-regex
export const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
