// Foundation, which GRDB imports, brings 34 MB of ICU's data for languages, calendars and time zones. Nothing of ours uses
// it, so the static link of capqueue takes this empty package in its place: the linker takes no object from a library for a
// symbol that is known. The symbol has the number of the ICU of Swift 6.2 and 6.3; with another one, the data is linked.
#pragma once
