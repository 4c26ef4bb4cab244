// Written by scripts/unicode-ranges.mjs.

/** A regular expression's class of hexadecimal ranges. */
export const classOf = (ranges: string): string =>
  `[${ranges.replace(/[0-9a-f]+/g, (point) => `\\u{${point}}`).replaceAll(' ', '')}]`

/**
 * Characters of Unicode 15.0 that folding may change, or that others combine with, as hexadecimal ranges. Unicode
 * never changes how these are normalised and folded, so every later version gives the same for them.
 */
export const FOLDED_RANGES =
  '3b-376 37a-37f 384-38a 38c 38e-3a1 3a3-52e 531-556 587 591-5c7 5d0-5ea 5f2 610-6ed 711-74a 7eb-7f3 7fd-82d ' +
  '859-85b 898-95f 9a1-9a2 9af 9bc-9be 9c7 9cb-9cd 9d7 9dc-9dd 9df 9fe a16-a1c a2b a32-a33 a36 a38 a3c a4d a59-a5b ' +
  'a5e abc acd b21-b22 b3c-b3e b47-b48 b4b-b4d b56-b57 b5c-b5d b92-b94 bbe bc6-bc7 bca-bcd bd7 c3c c46-c48 c4d ' +
  'c55-c56 cbc-cc2 cc6-cc8 cca-ccd cd5-cd6 d3b-d3e d46-d47 d4a-d4d d57 dca dcf dd9-ddf e33-e3a e48-e4b eb3-eba ' +
  'ec8-ecb edc-edd f0c-f43 f4c-f69 f71-f93 f9c-fb9 fc6 1025-10c5 10c7 10cd 10fc-11c2 135d-135f 13a0-13f5 1714-1715 ' +
  '1734 17b4-17dd 180b-180f 18a9 1939-193b 1a17-1a18 1a60-1a7c 1a7f 1ab0-1ace 1b05-1b44 1b6b-1b73 1baa-1bf3 1c37 ' +
  '1c80-1c88 1c90-1cba 1cbd-1cbf 1cd0-1cf9 1d2c-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d ' +
  '1f5f-1f7d 1f80-1fb4 1fb6-1fc4 1fc6-1fd3 1fd6-1fdb 1fdd-1fef 1ff2-1ff4 1ff6-1ffe 2000-2064 2066-2071 2074-208e ' +
  '2090-209c 20a8 20d0-20f0 2100-2189 2190-232a 2460-2add 2c00-2cf2 2d6f 2d7f 2de0-2dff 2e9f-2ef3 2f00-2fd5 ' +
  '3000-303a 3046-3094 3099-30ff 3131-318e 3192-319f 3200-321e 3220-9f9c a640-a6f1 a722-a7c9 a7d0 a7d6-a7d8 ' +
  'a7f2-a82c a8c4 a8e0-a953 a9b3-a9c0 aab0-aac1 aaf6 ab5c-ab69 abed ac00-d7a3 f900-fa6d fa70-fad9 fb00-fb06 ' +
  'fb13-fb17 fb1d-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fbb1 fbd3-fd8f fd92-fdc7 fdf0-fe19 fe20-fe52 ' +
  'fe54-fe66 fe68-fe6b fe70-fe74 fe76-fefc feff ff01-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc ffe0-ffe6 ' +
  'ffe8-ffee 101fd 102e0 10376-1037a 10400-10427 104b0-104d3 10570-1057a 1057c-1058a 1058c-10592 10594-10595 ' +
  '10781-10785 10787-107b0 107b2-107ba 10a0d-10a0f 10a38-10a3a 10a3f 10ae5-10ae6 10c80-10cb2 10d24-10d27 ' +
  '10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11046 11070 1107f-110ba 11100-11134 11173 111c0-111ca ' +
  '11235-11236 112e9-112ea 1133b-1133e 11347 1134b-1134d 11357 11366-1136c 11370-11374 11442-11446 1145e ' +
  '114b0-114c3 115af 115b8-115c0 1163f 116b6-116b7 1172b 11839-1183a 118a0-118bf 11930-11935 11938 1193d-11943 ' +
  '119e0 11a34-11a47 11a99 11c3f 11d42-11d45 11d97 11f41-11f42 16af0-16af4 16b30-16b36 16e40-16e5f 16ff0-16ff1 ' +
  '1bc9e-1bca3 1d157-1d1c0 1d242-1d244 1d400-1d454 1d456-1d49c 1d49e-1d49f 1d4a2 1d4a5-1d4a6 1d4a9-1d4ac ' +
  '1d4ae-1d4b9 1d4bb 1d4bd-1d4c3 1d4c5-1d505 1d507-1d50a 1d50d-1d514 1d516-1d51c 1d51e-1d539 1d53b-1d53e ' +
  '1d540-1d544 1d546 1d54a-1d550 1d552-1d6a5 1d6a8-1d7cb 1d7ce-1d7ff 1e000-1e006 1e008-1e018 1e01b-1e021 ' +
  '1e023-1e024 1e026-1e02a 1e030-1e06d 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e8d0-1e8d6 1e900-1e94a ' +
  '1ee00-1ee03 1ee05-1ee1f 1ee21-1ee22 1ee24 1ee27 1ee29-1ee32 1ee34-1ee37 1ee39 1ee3b 1ee42 1ee47 1ee49 1ee4b ' +
  '1ee4d-1ee4f 1ee51-1ee52 1ee54 1ee57 1ee59 1ee5b 1ee5d 1ee5f 1ee61-1ee62 1ee64 1ee67-1ee6a 1ee6c-1ee72 ' +
  '1ee74-1ee77 1ee79-1ee7c 1ee7e 1ee80-1ee89 1ee8b-1ee9b 1eea1-1eea3 1eea5-1eea9 1eeab-1eebb 1f100-1f190 ' +
  '1f200-1f202 1f210-1f23b 1f240-1f248 1f250-1f251 1fbf0-1fbf9 20122-2a600 2f800-2fa1d e0001 e0020-e007f ' +
  'e0100-e01ef'

/** Accents and characters that are not seen, of the same version. */
export const STRIPPED_RANGES =
  'ad 300-33f 342 346-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 61c 64b-65f 670 6d6-6dc 6df-6e4 6e7-6e8 ' +
  '6ea-6ed 711 730-74a 7eb-7f3 7fd 816-819 81b-823 825-827 829-82d 859-85b 898-89f 8ca-8e1 8e3-8ff 93c 951-954 9bc ' +
  '9fe a3c abc b3c c3c cbc f18-f19 f35 f37 f39 f82-f83 f86-f87 fc6 1037 108d 115f-1160 135d-135f 17b4-17b5 17dd ' +
  '180b-180f 18a9 1939-193b 1a17-1a18 1a75-1a7c 1a7f 1ab0-1abd 1abf-1ace 1b34 1b6b-1b73 1be6 1c37 1cd0-1cd2 ' +
  '1cd4-1ce0 1ce2-1ce8 1ced 1cf4 1cf8-1cf9 1dc0-1dff 200b-200f 202a-202e 2060-2064 2066-206f 20d0-20dc 20e1 ' +
  '20e5-20f0 2cef-2cf1 2de0-2dff 302a-302f 3164 a66f a674-a67d a69e-a69f a6f0-a6f1 a8e0-a8f1 a92b-a92d a9b3 aab0 ' +
  'aab2-aab4 aab7-aab8 aabe-aabf aac1 fb1e fe00-fe0f fe20-fe2f feff ffa0 101fd 102e0 10376-1037a 10a0d 10a0f ' +
  '10a38-10a3a 10ae5-10ae6 10d24-10d27 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 110ba 11100-11102 11173 ' +
  '111ca 11236 112e9 1133b-1133c 11366-1136c 11370-11374 11446 1145e 114c3 115c0 116b7 1183a 11943 11d42 ' +
  '16af0-16af4 16b30-16b36 16ff0-16ff1 1bc9e 1bca0-1bca3 1d165-1d169 1d16d-1d182 1d185-1d18b 1d1aa-1d1ad ' +
  '1d242-1d244 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef ' +
  '1e4ec-1e4ef 1e8d0-1e8d6 1e944-1e94a e0001 e0020-e007f e0100-e01ef'

/** Blanks, punctuation and signs of the same version, as they are after folding. Newer ones are in words. */
export const SEPARATING_RANGES =
  '0-2f 3a-60 7b-ac ae-d7 f7 2c2-2c5 2d2-2eb 2ed 2ef-2ff 375 3f6 482 55a-55f 589-58a 58d-58f 5be 5c0 5c3 5c6 ' +
  '5f3-5f4 606-60f 61b 61d-61f 66a-66d 6d4 6de 6e9 6fd-6fe 700-70d 7f6-7f9 7fe-7ff 830-83e 85e 888 964-965 970 ' +
  '9f2-9f3 9fa-9fb 9fd a76 af0-af1 b70 bf3-bfa c77 c7f c84 d4f d79 df4 e3f e4f e5a-e5b f01-f17 f1a-f1f f34 f36 f38 ' +
  'f3a-f3d f85 fbe-fc5 fc7-fcc fce-fda 104a-104f 109e-109f 10fb 1360-1368 1390-1399 1400 166d-166e 1680 169b-169c ' +
  '16eb-16ed 1735-1736 17d4-17d6 17d8-17db 1800-180a 1940 1944-1945 19de-19ff 1a1e-1a1f 1aa0-1aa6 1aa8-1aad ' +
  '1b5a-1b6a 1b74-1b7e 1bfc-1bff 1c3b-1c3f 1c7e-1c7f 1cc0-1cc7 1cd3 2010-2029 2030-205e 20a0-20c0 2104-214d 214f ' +
  '218a-218b 2190-2426 2440-244a 2500-2775 2794-2b73 2b76-2b95 2b97-2bff 2ce5-2cea 2cf9-2cfc 2cfe-2cff 2d70 ' +
  '2e00-2e2e 2e30-2e5d 2e80-2e99 2e9b-2ef2 2ff0-2ffb 3001-3004 3008-3020 3030 3037 303d-303f 30a0 30fb 3190-3191 ' +
  '31c0-31e3 327f 4dc0-4dff a490-a4c6 a4fe-a4ff a60d-a60f a673 a67e a6f2-a6f7 a700-a716 a720-a721 a789-a78a ' +
  'a828-a82b a836-a839 a874-a877 a8ce-a8cf a8f8-a8fa a8fc a92e-a92f a95f a9c1-a9cd a9de-a9df aa5c-aa5f aa77-aa79 ' +
  'aade-aadf aaf0-aaf1 ab5b ab6a-ab6b abeb fbb2-fbc2 fd3e-fd4f fdcf fdfd-fdff fe45-fe46 fffc-fffd 10100-10102 ' +
  '10137-1013f 10179-10189 1018c-1018e 10190-1019c 101a0 101d0-101fc 1039f 103d0 1056f 10857 10877-10878 1091f ' +
  '1093f 10a50-10a58 10a7f 10ac8 10af0-10af6 10b39-10b3f 10b99-10b9c 10ead 10f55-10f59 10f86-10f89 11047-1104d ' +
  '110bb-110bc 110be-110c1 11140-11143 11174-11175 111c5-111c8 111cd 111db 111dd-111df 11238-1123d 112a9 ' +
  '1144b-1144f 1145a-1145b 1145d 114c6 115c1-115d7 11641-11643 11660-1166c 116b9 1173c-1173f 1183b 11944-11946 ' +
  '119e2 11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11b00-11b09 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f ' +
  '11fd5-11ff1 11fff 12470-12474 12ff1-12ff2 16a6e-16a6f 16af5 16b37-16b3f 16b44-16b45 16e97-16e9a 16fe2 1bc9c ' +
  '1bc9f 1cf50-1cfc3 1d000-1d0f5 1d100-1d126 1d129-1d15d 1d16a-1d16c 1d183-1d184 1d18c-1d1a9 1d1ae-1d1ea ' +
  '1d200-1d241 1d245 1d300-1d356 1d800-1d9ff 1da37-1da3a 1da6d-1da74 1da76-1da83 1da85-1da8b 1e14f 1e2ff ' +
  '1e95e-1e95f 1ecac 1ecb0 1ed2e 1eef0-1eef1 1f000-1f02b 1f030-1f093 1f0a0-1f0ae 1f0b1-1f0bf 1f0c1-1f0cf ' +
  '1f0d1-1f0f5 1f10d-1f1ad 1f1e6-1f1ff 1f260-1f265 1f300-1f6d7 1f6dc-1f6ec 1f6f0-1f6fc 1f700-1f776 1f77b-1f7d9 ' +
  '1f7e0-1f7eb 1f7f0 1f800-1f80b 1f810-1f847 1f850-1f859 1f860-1f887 1f890-1f8ad 1f8b0-1f8b1 1f900-1fa53 ' +
  '1fa60-1fa6d 1fa70-1fa7c 1fa80-1fa88 1fa90-1fabd 1fabf-1fac5 1face-1fadb 1fae0-1fae8 1faf0-1faf8 1fb00-1fb92 ' +
  '1fb94-1fbca'
