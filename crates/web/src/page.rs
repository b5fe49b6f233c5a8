//! The page itself: one text with everything inlined.

use std::sync::LazyLock;

pub static PAGE: LazyLock<String> = LazyLock::new(|| {
    include_str!("page/page.html")
        .replace("/* page.css */", include_str!("page/page.css"))
        .replace("/* page.js */", include_str!("page/page.js"))
});

#[cfg(test)]
mod tests {
    #[test]
    fn all_parts_are_in_it() {
        let page = &*super::PAGE;
        assert!(page.contains("color-scheme") && page.contains("\"use strict\""));
        // The only URL in it is SVG's namespace.
        assert!(!page.contains("/* page.") && !page.contains("https:"));
        assert_eq!(
            page.matches("http:").count(),
            page.matches("http://www.w3.org/2000/svg").count()
        );
    }
}
