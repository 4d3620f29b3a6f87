// The rule for texts that people choose, such as client seeds. Format 1 refuses control characters. Format 2 has the
// FreeformClass of PRECIS (RFC 8264) without invisible code points. Code points that this program's tables do not know
// are not refused, because a newer service may know them.

const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const LENGTH = /^.{1,64}$/su;

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{13441}\u{13442}\u{16fe4}]/u;
const OTHER_CLASSES = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u;
const OLD_HANGUL_JAMO = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb]/u;
const EXCEPTIONS = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u; // RFC 5892, 2.6
const DISALLOWED = [INVISIBLE, OTHER_CLASSES, OLD_HANGUL_JAMO, EXCEPTIONS];

// Code points that are allowed only in a context (RFC 5892, appendix A).
const IN_CONTEXT = /(?<=l)\u00b7(?=l)|\u0375(?=\p{Script=Greek})|(?<=\p{Script=Hebrew})[\u05f3\u05f4]/gu;
const NEEDS_CONTEXT = /[\u00b7\u0375\u05f3\u05f4]/u;
const KATAKANA_DOT = /\u30fb/u;
const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u;
const ARABIC_INDIC_DIGIT = /[\u0660-\u0669]/u;
const EXTENDED_DIGIT = /[\u06f0-\u06f9]/u;

export function isChosenText(text, format) {
  if (typeof text !== "string" || !LENGTH.test(text)) return false;
  if (format === 1) return !CONTROL.test(text);
  if (DISALLOWED.some((refused) => refused.test(text))) return false;
  if (NEEDS_CONTEXT.test(text.replace(IN_CONTEXT, ""))) return false;
  if (KATAKANA_DOT.test(text) && !JAPANESE.test(text)) return false;
  return !(ARABIC_INDIC_DIGIT.test(text) && EXTENDED_DIGIT.test(text));
}
